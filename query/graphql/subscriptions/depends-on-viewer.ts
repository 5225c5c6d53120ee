import {
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Caller } from '#shared/policy.ts';
import { fragmentsOf } from '../documents/measure.ts';

/**
 * Whom the value of a field is the same for, among viewers of one role and the same scopes who may read what it is a field of:
 * `all`; all but the one whose it is (`all_but_its_own`); or all, but it leads to what belongs to people whom the change does not concern.
 */
type SameFor = 'all' | 'all_but_its_own' | 'all_and_leads_to_others';

const IN_CONNECTION = { edges: 'all', nodes: 'all', pageInfo: 'all', totalCount: 'all' } as const;
const IN_EDGE = { cursor: 'all', node: 'all' } as const;
const IN_PAYLOAD = { cursor: 'all', type: 'all', at: 'all', subjectId: 'all' } as const;

/** There is nothing of a webhook but for its owner, and for administrators. */
const OF_WEBHOOKS = Object.fromEntries(
  Object.entries({
    Webhook: `id owner url description eventTypes articleId authorId payload ordered ratePerSecond concurrency headerNames scopes
      enabled disabledReason missedSince secretsEndAt createdAt updatedAt version withheld health delivery deliveriesConnection replay replaysConnection asOf history`,
    WebhookWithheld: 'eventType scope reason',
    WebhookHealth: 'lastSuccessAt lastFailure failingSince failuresInRow pausedUntil backlog',
    WebhookFailure: 'at status reason',
    WebhookBacklog: 'due oldestAt dead',
    Delivery: 'id type subject cursor state attempts nextAt lastStatus lastError createdAt deliveredAt attemptsConnection',
    DeliveryAttempt: 'number at durationMs status error requestHeaders answer',
    DeliveryAnswer: 'headers text base64 truncated',
    HttpHeader: 'name value',
    Replay: 'id from since to at planned state requestedAt finishedAt',
    WebhookConnection: 'edges nodes pageInfo totalCount',
    WebhookEdge: 'cursor node',
    DeliveryConnection: 'edges nodes pageInfo',
    DeliveryEdge: 'cursor node',
    DeliveryAttemptConnection: 'edges nodes pageInfo',
    DeliveryAttemptEdge: 'cursor node',
    ReplayConnection: 'edges nodes pageInfo',
    ReplayEdge: 'cursor node',
  }).map(([type, fields]) => [type, Object.fromEntries(fields.split(/\s+/).map((field) => [field, 'all' as const]))]),
);

/** No subscription is told histories: whoever asks for one is refused it. */
const OF_HISTORIES = Object.fromEntries(
  Object.entries({
    HistoryConnection: 'edges nodes pageInfo',
    HistoryEntryEdge: 'cursor node',
    HistoryEntry: 'version id type at cursor actor client request correlation causation changes erased unreadable',
    FieldChange: 'field from to diff truncated',
  }).map(([type, fields]) => [type, Object.fromEntries(fields.split(' ').map((field) => [field, 'all' as const]))]),
);

/** A field that is not here counts as different for everybody; a test holds this to the schema. */
const SAME_FOR: Readonly<Record<string, Readonly<Record<string, SameFor>>>> = {
  Subscription: { articlePublished: 'all', articleChanged: 'all', commentAdded: 'all', userChanged: 'all', changes: 'all' },
  ArticleChange: { ...IN_PAYLOAD, article: 'all' },
  CommentChange: { ...IN_PAYLOAD, comment: 'all' },
  UserChange: { ...IN_PAYLOAD, user: 'all' },
  Change: { ...IN_PAYLOAD, article: 'all', comment: 'all', user: 'all', webhook: 'all' },
  Node: { id: 'all' },
  User: {
    id: 'all',
    name: 'all',
    version: 'all',
    email: 'all_but_its_own',
    role: 'all_but_its_own',
    createdAt: 'all_but_its_own',
    updatedAt: 'all_but_its_own',
    // Their drafts are among them.
    posts: 'all_but_its_own',
    postsConnection: 'all_but_its_own',
    webhooks: 'all_but_its_own',
    webhooksConnection: 'all_but_its_own',
    asOf: 'all',
    history: 'all',
  },
  Post: {
    id: 'all',
    title: 'all',
    body: 'all',
    tags: 'all',
    status: 'all',
    author: 'all',
    cover: 'all',
    coverAddress: 'all',
    createdAt: 'all',
    updatedAt: 'all',
    publishedAt: 'all',
    version: 'all',
    comments: 'all_and_leads_to_others',
    commentsConnection: 'all_and_leads_to_others',
    asOf: 'all',
    history: 'all',
  },
  SignedAddress: { href: 'all', expiresAt: 'all' },
  Comment: {
    id: 'all',
    text: 'all',
    author: 'all',
    post: 'all',
    createdAt: 'all',
    updatedAt: 'all',
    version: 'all',
    asOf: 'all',
    history: 'all',
  },
  ...OF_WEBHOOKS,
  ...OF_HISTORIES,
  PostConnection: IN_CONNECTION,
  PostEdge: IN_EDGE,
  CommentConnection: IN_CONNECTION,
  CommentEdge: IN_EDGE,
  PageInfo: { hasNextPage: 'all', hasPreviousPage: 'all', startCursor: 'all', endCursor: 'all' },
};

export const sameFor = (type: string, field: string): SameFor | undefined => SAME_FOR[type]?.[field];

/**
 * Whether two viewers of one role and the same scopes may be shown different things although the change concerns neither of them.
 * Where it does not, one rendering serves all but those whom the change concerns: the owner of what has changed, and the author of
 * the article under which it stands.
 */
export const dependsOnViewer = (
  { schema, document }: { readonly schema: GraphQLSchema; readonly document: DocumentNode },
  { selectionSet, operation }: OperationDefinitionNode,
  caller: Caller,
): boolean => {
  // Nobody owns anything, and to administrators it makes no difference who does.
  if (caller.kind !== 'user' || caller.role === 'admin') return false;
  const root = schema.getRootType(operation);
  return root !== undefined && root !== null && createSearch(schema, document)(selectionSet, root, false);
};

/** `ofOthers` is whether it may belong to people whom the change does not concern. */
type Search = (set: SelectionSetNode, type: GraphQLNamedType, ofOthers: boolean) => boolean;

const createSearch = (schema: GraphQLSchema, document: DocumentNode): Search => {
  const fragments = fragmentsOf(document);
  const visited = new Set<string>();
  const inFragment = (name: string, ofOthers: boolean): boolean => {
    const key = `${name} ${ofOthers}`;
    const fragment = fragments.get(name);
    if (fragment === undefined || visited.has(key)) return false;
    visited.add(key);
    return search(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value), ofOthers);
  };
  const inField = (set: SelectionSetNode | undefined, type: GraphQLNamedType, at: { field: string; ofOthers: boolean }): boolean => {
    const same = at.field === '__typename' ? 'all' : sameFor(type.name, at.field);
    if (same === undefined || (same === 'all_but_its_own' && at.ofOthers)) return true;
    if (set === undefined || !(isObjectType(type) || isInterfaceType(type))) return false;
    return search(set, getNamedType(type.getFields()[at.field]?.type), at.ofOthers || same === 'all_and_leads_to_others');
  };
  const inSelection = (selection: SelectionNode, type: GraphQLNamedType, ofOthers: boolean): boolean => {
    switch (selection.kind) {
      case Kind.FIELD:
        return inField(selection.selectionSet, type, { field: selection.name.value, ofOthers });
      case Kind.INLINE_FRAGMENT: {
        const condition = selection.typeCondition?.name.value;
        return search(selection.selectionSet, condition === undefined ? type : schema.getType(condition), ofOthers);
      }
      case Kind.FRAGMENT_SPREAD:
        return inFragment(selection.name.value, ofOthers);
    }
  };
  const search = ({ selections }: SelectionSetNode, type: GraphQLNamedType | undefined, ofOthers: boolean): boolean =>
    !isCompositeType(type) || selections.some((selection) => inSelection(selection, type, ofOthers));
  return search;
};

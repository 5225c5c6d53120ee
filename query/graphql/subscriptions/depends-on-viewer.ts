// Over 200 lines, because it is one walk over a query: it finds whose result is the same for whom.

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
import { itemType, targetOf } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { callersIn } from '#kernel/conditions/fold.ts';
import { isReadableWith } from '#kernel/conditions/references.ts';
import { rightsOf } from '#kernel/conditions/rights.ts';
import { isFileField } from '#kernel/decide/accepted-files.ts';
import { filtersOf } from '#kernel/registry/event-references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Caller } from '#shared/policy.ts';
import type { Child, ItemSource, Member, Source, Sources } from '../../rows/source.ts';
import { demandSource, rightsToField, sourcesOf } from '../../rows/sources.ts';
import { fragmentsOf } from '../documents/measure.ts';
import { changedName, changeType, eventName, listsOf, memberName } from '../rules/names.ts';

/**
 * For which viewers of one role, with the same scopes and the right to the parent, a field has the same
 * value: `all`; all but its owner (`all_but_its_own`); or all, but it leads to data of people whom the change
 * does not concern.
 */
type SameFor = 'all' | 'all_but_its_own' | 'all_and_leads_to_others';

const IN_CONNECTION = { edges: 'all', nodes: 'all', pageInfo: 'all', totalCount: 'all' } as const;
const IN_EDGE = { cursor: 'all', node: 'all' } as const;
const IN_PAYLOAD = { cursor: 'all', type: 'all', at: 'all', subjectId: 'all' } as const;

/** Only its owner and administrators see anything of a webhook. */
const OF_WEBHOOKS = Object.fromEntries(
  Object.entries({
    Webhook: `id owner url description eventTypes payload ordered ratePerSecond concurrency headerNames scopes
      enabled disabledReason missedSince secretsEndAt createdAt updatedAt version withheld health delivery deliveriesConnection replay replaysConnection asOf history`,
    WebhookWithheld: 'eventType scope reason',
    WebhookHealth:
      'lastSuccessAt lastFailure failingSince failuresInRow pausedUntil nextAttemptAt attemptsLastDay failuresLastDay successRate backlog',
    WebhookFailure: 'at status reason',
    WebhookBacklog: 'due oldestAt dead',
    Delivery:
      'id webhook type subject cursor state attempts nextAt lastStatus lastError createdAt deliveredAt attemptsConnection',
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
  }).map(([type, fields]) => [
    type,
    Object.fromEntries(fields.split(/\s+/).map((field) => [field, 'all' as const])),
  ]),
);

/** Subscriptions refuse histories. */
const OF_HISTORIES = Object.fromEntries(
  Object.entries({
    HistoryConnection: 'edges nodes pageInfo',
    HistoryEntryEdge: 'cursor node',
    HistoryEntry:
      'version id type at cursor actor client request correlation causation changes erased unreadable',
    FieldChange: 'field from to diff truncated',
  }).map(([type, fields]) => [
    type,
    Object.fromEntries(fields.split(' ').map((field) => [field, 'all' as const])),
  ]),
);

type Fields = Readonly<Record<string, SameFor | undefined>>;
type SameInTypes = Readonly<Record<string, Fields>>;

/** A field missing here counts as different for every viewer. A test compares this with the schema. */
const OF_KERNEL: SameInTypes = {
  Node: { id: 'all' },
  SignedAddress: { href: 'all', expiresAt: 'all' },
  FileDetails: { type: 'all', bytes: 'all', sha256: 'all', name: 'all' },
  PageInfo: { hasNextPage: 'all', hasPreviousPage: 'all', startCursor: 'all', endCursor: 'all' },
  ...OF_WEBHOOKS,
  ...OF_HISTORIES,
};

export const sameFor = (domain: Domain, type: string, field: string): SameFor | undefined =>
  sameInTypes(domain)[type]?.[field];

const sameInTypes = oncePer((domain: Domain) => makeTypes(domain));

const makeTypes = (domain: Domain): SameInTypes => {
  const sources = sourcesOf(domain);
  const kinds = sources.all.map(({ kind }) => kind);
  const roots = kinds.flatMap((kind) => [
    changedName(kind),
    ...Object.values(kind.events).map((event) => eventName(kind, event)),
  ]);
  const user = { webhooks: 'all_but_its_own', webhooksConnection: 'all_but_its_own' } as const;
  const types = sources.all.flatMap((source): readonly (readonly [string, Fields])[] => {
    const { type, name } = source.kind;
    return [
      [type, { ...sameInType(domain, sources, source), ...(name === 'user' && user) }],
      [`${type}Connection`, IN_CONNECTION],
      [`${type}Edge`, IN_EDGE],
      [changeType(source.kind), { ...IN_PAYLOAD, [name]: 'all' }],
      ...source.items.flatMap((items) => sameInItems(domain, items)),
    ];
  });
  return {
    ...OF_KERNEL,
    Webhook: {
      ...OF_WEBHOOKS.Webhook,
      ...Object.fromEntries([...filtersOf(domain).keys()].map((name) => [name, 'all'])),
    },
    ...Object.fromEntries(types),
    Subscription: { ...Object.fromEntries(roots.map((root) => [root, 'all'])), changes: 'all' },
    Change: { ...IN_PAYLOAD, ...Object.fromEntries(kinds.map(({ name }) => [name, 'all'])), webhook: 'all' },
  };
};

const sameInType = (domain: Domain, sources: Sources, source: Source): Fields => {
  const { members, children } = source;
  const plain = [
    'id',
    'createdAt',
    'updatedAt',
    'version',
    'asOf',
    'history',
    ...members.flatMap(({ name, target }) => (target ? [] : [name])),
  ];
  return {
    ...Object.fromEntries(plain.map((name) => [name, sameWith(domain, source, rightsToField(source, name))])),
    ...addressesIn(members),
    ...Object.fromEntries(
      source.items.flatMap(({ list: { name }, part }) =>
        [name, `${name}Connection`].map(
          (each) => [each, sameWith(domain, source, part ? [part.right] : [])] as const,
        ),
      ),
    ),
    ...Object.fromEntries(
      members.flatMap((member) =>
        member.target
          ? [
              [
                memberName(member),
                member.guard === undefined ? sameBehind(domain, source, member) : undefined,
              ],
            ]
          : [],
      ),
    ),
    ...Object.fromEntries(
      children.flatMap((child) => {
        const same = sameUnder(domain, demandSource(sources, child.kind.name), child);
        return [listsOf(child.kind), `${listsOf(child.kind)}Connection`].map((name) => [name, same]);
      }),
    ),
  };
};

const addressesIn = (members: readonly Member[]): Fields =>
  Object.fromEntries(
    members.flatMap(({ name, def }) => [
      ...(def.kind === 'upload' ? [[`${name}Address`, 'all'] as const] : []),
      ...(isFileField(def) ? [[`${name}Details`, 'all'] as const] : []),
    ]),
  );

/**
 * A guarded part: if its right asks for users other than the owner, the change of another aggregate need not
 * concern them.
 */
const sameWith = (
  domain: Domain,
  { kind, owner }: Source,
  rights: readonly string[],
): SameFor | undefined => {
  const own = kind.name === 'user' ? 'id' : owner?.name;
  const askers = rights.flatMap((right) => [...askersOf(domain, right)]);
  if (askers.length === 0) return 'all';
  return askers.every((asker) => asker === own) ? 'all_but_its_own' : undefined;
};

/** Readers of the aggregate see all its items; the items’ references lead to data of others. */
const sameInItems = (
  domain: Domain,
  { kind, list, members }: ItemSource,
): readonly (readonly [string, Fields])[] => {
  const type = itemType(kind, list);
  const behind = ({ target }: Member): SameFor | undefined =>
    target && (askersOf(domain, `${target.name}.read`).size > 0 ? undefined : 'all_and_leads_to_others');
  const fields = [list.id.name, 'createdAt', 'updatedAt', kind.field].map((name) => [name, 'all'] as const);
  const ofMembers = members.map(
    (member) => [memberName(member), member.target ? behind(member) : 'all'] as const,
  );
  return [
    [type, { ...Object.fromEntries([...fields, ...ofMembers]), ...addressesIn(members) }],
    [`${type}Connection`, IN_CONNECTION],
    [`${type}Edge`, IN_EDGE],
  ];
};

/**
 * The change concerns the owner of an aggregate and the owner of its parent; other references lead to data of
 * others.
 */
const sameBehind = (
  domain: Domain,
  { kind, right, parent, owner }: Source,
  member: Member,
): SameFor | undefined => {
  const isConcerned =
    (member.name === parent?.name && isAsked(domain, right, member)) || member.name === owner?.name;
  if (isConcerned && isReadableWith(domain, kind, member)) return 'all';
  if (member.target && askersOf(domain, `${member.target.name}.read`).size > 0) return undefined;
  return isConcerned ? 'all' : 'all_and_leads_to_others';
};

/**
 * True if a right asks for the owner of a reference’s target, and for everyone else who may read that.
 * Otherwise a change does not contain them.
 */
const isAsked = (domain: Domain, right: string, { name, target }: Member): boolean => {
  if (target === undefined) return false;
  const asked = askersOf(domain, right);
  const there = [
    ...(target.owner === undefined ? [] : [target.owner]),
    ...askersOf(domain, `${target.name}.read`),
  ];
  return there.every((asker) => asked.has(`${name}.${asker}`));
};

/**
 * Only its owner may see some aggregates of a user. Children are as visible as their parent, or different for
 * every viewer.
 */
const sameUnder = (
  domain: Domain,
  { kind, owner, right }: Source,
  { reference }: Child,
): SameFor | undefined => {
  const askers = askersOf(domain, right);
  if (reference === owner?.name)
    return [...askers].every((asker) => asker === reference) ? 'all_but_its_own' : undefined;
  const parent = kind.fields[reference];
  const above = parent && domain.kinds[targetOf(parent)]?.owner;
  return [...askers].every((asker) => asker === `${reference}.${above}`)
    ? 'all_and_leads_to_others'
    : undefined;
};

/** The fields in which a right compares the caller. */
const askersOf = (domain: Domain, operation: string): ReadonlySet<string> =>
  new Set(
    (rightsOf(domain).get(operation)?.alternatives ?? [])
      .flatMap((each) => callersIn(each))
      .map(({ field, path }) => [...path, field].join('.')),
  );

/**
 * True if two viewers of one role with the same scopes may get different results though the change concerns
 * neither. If false, one rendering serves all viewers but those whom the change concerns: the owner of the
 * changed aggregate, and the author of the article above it.
 */
export const dependsOnViewer = (
  { schema, document }: { readonly schema: GraphQLSchema; readonly document: DocumentNode },
  { selectionSet, operation }: OperationDefinitionNode,
  caller: Caller,
): boolean => {
  // Anonymous viewers own nothing, and administrators see the same whoever the owner is.
  if (caller.kind !== 'user' || caller.role === 'admin') return false;
  const root = schema.getRootType(operation);
  return (
    root !== undefined &&
    root !== null &&
    createSearch({ domain: caller.policy.domain, schema, document })(selectionSet, root, false)
  );
};

/** `ofOthers` is true if the data may belong to people whom the change does not concern. */
type Search = (set: SelectionSetNode, type: GraphQLNamedType, ofOthers: boolean) => boolean;

type Searched = { readonly domain: Domain; readonly schema: GraphQLSchema; readonly document: DocumentNode };

const createSearch = ({ domain, schema, document }: Searched): Search => {
  const fragments = fragmentsOf(document);
  const visited = new Set<string>();
  const inFragment = (name: string, ofOthers: boolean): boolean => {
    const key = `${name} ${ofOthers}`;
    const fragment = fragments.get(name);
    if (fragment === undefined || visited.has(key)) return false;
    visited.add(key);
    return search(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value), ofOthers);
  };
  const inField = (
    set: SelectionSetNode | undefined,
    type: GraphQLNamedType,
    at: { field: string; ofOthers: boolean },
  ): boolean => {
    const same = at.field === '__typename' ? 'all' : sameFor(domain, type.name, at.field);
    if (same === undefined || (same === 'all_but_its_own' && at.ofOthers)) return true;
    if (set === undefined || !(isObjectType(type) || isInterfaceType(type))) return false;
    return search(
      set,
      getNamedType(type.getFields()[at.field]?.type),
      at.ofOthers || same === 'all_and_leads_to_others',
    );
  };
  const inSelection = (selection: SelectionNode, type: GraphQLNamedType, ofOthers: boolean): boolean => {
    switch (selection.kind) {
      case Kind.FIELD:
        return inField(selection.selectionSet, type, { field: selection.name.value, ofOthers });
      case Kind.INLINE_FRAGMENT: {
        const condition = selection.typeCondition?.name.value;
        return search(
          selection.selectionSet,
          condition === undefined ? type : schema.getType(condition),
          ofOthers,
        );
      }
      case Kind.FRAGMENT_SPREAD:
        return inFragment(selection.name.value, ofOthers);
    }
  };
  const search = (
    { selections }: SelectionSetNode,
    type: GraphQLNamedType | undefined,
    ofOthers: boolean,
  ): boolean =>
    !isCompositeType(type) || selections.some((selection) => inSelection(selection, type, ofOthers));
  return search;
};

import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import { admit, admitByScope, type Caller, type Operation, scopeOf } from '#shared/policy.ts';
import type { Rejection } from '#shared/rejection.ts';

/** Whoever reads something of a type must be admitted to this, whichever field leads there. */
const READING: Readonly<Record<string, Operation>> = {
  User: 'user.read',
  UserConnection: 'user.read',
  Post: 'article.read',
  PostConnection: 'article.read',
  Comment: 'comment.read',
  CommentConnection: 'comment.read',
  Webhook: 'webhook.manage',
  WebhookConnection: 'webhook.manage',
  HistoryConnection: 'events.read',
  AuditStatus: 'events.read',
  ArticleChange: 'article.read',
  CommentChange: 'comment.read',
  UserChange: 'user.read',
  // The feed of everything; of each change, they hear only what they may know of.
  Change: 'events.read',
};

/** Beside what their answers let the caller read. */
const MUTATIONS: Readonly<Record<string, Operation>> = {
  createUser: 'user.register',
  updateUser: 'user.update',
  deleteUser: 'user.delete',
  createPost: 'article.draft',
  updatePost: 'article.edit',
  publishPost: 'article.publish',
  unpublishPost: 'article.unpublish',
  setPostCover: 'article.edit',
  removePostCover: 'article.edit',
  deletePost: 'article.delete',
  addComment: 'comment.add',
  updateComment: 'comment.edit',
  deleteComment: 'comment.delete',
  registerWebhook: 'webhook.manage',
  editWebhook: 'webhook.manage',
  deleteWebhook: 'webhook.manage',
  rotateWebhookSecret: 'webhook.manage',
  enableWebhook: 'webhook.manage',
  disableWebhook: 'webhook.manage',
  testWebhook: 'webhook.manage',
  replayWebhook: 'webhook.manage',
  redeliver: 'webhook.manage',
  redriveWebhook: 'webhook.manage',
};

/** Who the token stands for is not public, though the name of every user is. */
const ME: Operation = 'user.read_private';

/** What a caller must be admitted to before any of an operation runs, whatever its variables are. */
export const rightsOf = (schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): ReadonlySet<Operation> => {
  const rights = new Set<Operation>();
  const fragments = fragmentsOf(document);
  const visited = new Set<string>();
  const visit = (typeName: string, { selections }: SelectionSetNode): void => {
    const type = schema.getType(typeName);
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const { name, selectionSet } = selection;
        const mutation = type === schema.getMutationType() ? MUTATIONS[name.value] : undefined;
        if (mutation) rights.add(mutation);
        if (type === schema.getQueryType() && name.value === 'me') rights.add(ME);
        if (selectionSet && (isObjectType(type) || isInterfaceType(type)))
          enter(getNamedType(type.getFields()[name.value]?.type)?.name, selectionSet);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) enter(selection.typeCondition?.name.value ?? typeName, selection.selectionSet);
      else spread(fragments.get(selection.name.value));
    }
  };
  const enter = (typeName: string | undefined, selectionSet: SelectionSetNode): void => {
    const right = READING[typeName ?? ''];
    if (right) rights.add(right);
    if (typeName !== undefined) visit(typeName, selectionSet);
  };
  const spread = (fragment: FragmentDefinitionNode | undefined): void => {
    if (fragment === undefined || visited.has(fragment.name.value)) return;
    visited.add(fragment.name.value);
    enter(fragment.typeCondition.name.value, fragment.selectionSet);
  };
  const root = schema.getRootType(operation.operation);
  if (root) visit(root.name, operation.selectionSet);
  return rights;
};

const fragmentsOf = (document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION).map((node) => [node.name.value, node]));

/**
 * The first thing that the caller is not admitted to. A mutation takes the scopes of all that it answers, also where that is public
 * now: it would else be done, and its answer could not be given.
 */
export const refusalOf = (caller: Caller, rights: ReadonlySet<Operation>, type: OperationTypeNode): Rejection | undefined => {
  const admitted = type === OperationTypeNode.MUTATION ? admitByScope : admit;
  for (const right of rights) {
    // Without a token there is nobody, which is no refusal.
    if (right === ME && caller.kind === 'anonymous') continue;
    const admission = admitted(caller, right);
    if (admission !== 'allowed') return admission;
  }
  return undefined;
};

/**
 * As whom an operation is carried out. Every comment leads to its post, so that an operation which asks for both, by a token that
 * reads only public posts, reads only public comments.
 */
export const readerOf = (caller: Caller, rights: ReadonlySet<Operation>): Caller => {
  const asksForBoth = rights.has('article.read') && rights.has('comment.read');
  if (caller.kind !== 'user' || !asksForBoth || caller.scopes.has(scopeOf(caller.policy, 'article.read'))) return caller;
  return { ...caller, scopes: new Set([...caller.scopes].filter((scope) => scope !== scopeOf(caller.policy, 'comment.read'))) };
};

import type { UserId } from '#shared/brands.ts';
import type { Role } from '#shared/events/fields.ts';
import type { Actor } from '#shared/events/metadata.ts';
import { Rejection } from '#shared/rejection.ts';

/** Every scope that a token can have. */
export const SCOPES = [
  'read:users',
  'write:users',
  'read:articles',
  'write:articles',
  'publish:articles',
  'read:comments',
  'write:comments',
  'manage:webhooks',
  'read:events',
  'read:schema',
  'manage:clients',
  'manage:operations',
] as const;
export type Scope = (typeof SCOPES)[number];

/** Who asks. A service client is the user that is its service account. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | {
      readonly kind: 'user';
      readonly userId: UserId;
      readonly role: Role;
      readonly scopes: ReadonlySet<string>;
      /** The OAuth client that the caller came by. */
      readonly client: string | null;
    }
  /** A part of the system itself, such as the process manager; it may do everything. */
  | { readonly kind: 'system'; readonly name: string };

/**
 * The client by which people sign in to the pages of their own account. Nobody can register it, and its tokens have none of our scopes:
 * a caller of this client with such a scope is the account page, where somebody has just signed in.
 */
export const ACCOUNT_CLIENT_ID = 'annals-account';

/** The caller as events name it. */
export const actorOf = (caller: Caller): Actor => {
  switch (caller.kind) {
    case 'anonymous':
      return 'anonymous';
    case 'user':
      return `user:${caller.userId}`;
    case 'system':
      return `system:${caller.name}`;
  }
};

/** What a right may depend on. A creation names what is about to be. */
export type Resource = {
  /** The user, the author, or whoever a webhook endpoint belongs to. */
  readonly ownerId?: UserId;
  readonly articleStatus?: 'draft' | 'published' | 'deleted';
  /** Of comments: the author of the article under which it stands. */
  readonly articleAuthorId?: UserId;
};

/** What a right may depend on, by name, so that filters of lists can be made of it as well as answers about one item. */
export type Fact =
  /** The caller owns it. */
  | 'own'
  /** The caller is the author of the article under which it stands. */
  | 'on_own_article'
  /** The article is published, or the article under which it stands. */
  | 'published';

/** Any of the facts is enough. */
type Condition = 'always' | 'never' | readonly Fact[];

const yes = 'always';
const never = 'never';
const own = ['own'] as const;
const published = ['published'] as const;
const publishedOrOwn = ['published', 'own'] as const;
const publishedOrOnOwnArticle = ['published', 'on_own_article'] as const;
const ownOrOnOwnArticle = ['own', 'on_own_article'] as const;

type Rule = { readonly scope: Scope } & Readonly<Record<'anonymous' | Role, Condition>>;

/**
 * Who may do what: effective right = scope ∧ role ∧ ownership. Anonymous callers have no scopes, so only their cell counts;
 * and it counts for every caller, because nobody has less than it by having signed in.
 * What stands under a role is the whole of its rights; no role inherits.
 */
const POLICY = {
  // id and name
  'user.read': { scope: 'read:users', anonymous: yes, reader: yes, author: yes, admin: yes },
  // e-mail, role
  'user.read_private': { scope: 'read:users', anonymous: never, reader: own, author: own, admin: yes },
  'user.register': { scope: 'write:users', anonymous: never, reader: never, author: never, admin: yes },
  'user.update': { scope: 'write:users', anonymous: never, reader: own, author: own, admin: yes },
  'user.change_role': { scope: 'write:users', anonymous: never, reader: never, author: never, admin: yes },
  'user.delete': { scope: 'write:users', anonymous: never, reader: own, author: own, admin: yes },

  'article.read': { scope: 'read:articles', anonymous: published, reader: published, author: publishedOrOwn, admin: yes },
  'article.create': { scope: 'write:articles', anonymous: never, reader: never, author: own, admin: yes },
  'article.edit': { scope: 'write:articles', anonymous: never, reader: never, author: own, admin: yes },
  'article.publish': { scope: 'publish:articles', anonymous: never, reader: never, author: own, admin: yes },
  'article.unpublish': { scope: 'publish:articles', anonymous: never, reader: never, author: own, admin: yes },
  'article.delete': { scope: 'write:articles', anonymous: never, reader: never, author: own, admin: yes },

  // what can be read of an article can be read of its comments
  'comment.read': { scope: 'read:comments', anonymous: published, reader: published, author: publishedOrOnOwnArticle, admin: yes },
  'comment.add': { scope: 'write:comments', anonymous: never, reader: own, author: own, admin: yes },
  'comment.edit': { scope: 'write:comments', anonymous: never, reader: own, author: own, admin: yes },
  'comment.delete': { scope: 'write:comments', anonymous: never, reader: own, author: ownOrOnOwnArticle, admin: yes },

  'webhook.manage': { scope: 'manage:webhooks', anonymous: never, reader: own, author: own, admin: yes },
  // the schema of GraphQL, where the settings keep it from everybody else
  'schema.read': { scope: 'read:schema', anonymous: never, reader: yes, author: yes, admin: yes },
  'client.manage': { scope: 'manage:clients', anonymous: never, reader: never, author: never, admin: yes },
  // only of what they may read, which the read rules of the single items say
  'events.read': { scope: 'read:events', anonymous: never, reader: yes, author: yes, admin: yes },
  // by which client, by which request, and because of what somebody did something
  'events.trace': { scope: 'read:events', anonymous: never, reader: own, author: own, admin: yes },
  // the whole log as it was recorded
  'events.export': { scope: 'read:events', anonymous: never, reader: never, author: never, admin: yes },
  // how the installation does, and what stands still
  'operations.read': { scope: 'read:events', anonymous: never, reader: never, author: never, admin: yes },
  'operations.manage': { scope: 'manage:operations', anonymous: never, reader: never, author: never, admin: yes },
} as const satisfies Record<string, Rule>;

export type Operation = keyof typeof POLICY;
export const OPERATIONS = Object.keys(POLICY) as readonly Operation[];

/** The scope that a token must have for it, beyond what is public. */
export const scopeOf = (operation: Operation): Scope => POLICY[operation].scope;

/** The whole question. A refusal comes in the order in which a caller can do something about it: sign in, get the scope, give up. */
export const authorize = (caller: Caller, operation: Operation, resource: Resource): 'allowed' | Rejection => {
  const admission = admit(caller, operation);
  if (admission !== 'allowed' || may(caller, operation, resource)) return admission;
  if (caller.kind === 'anonymous') return new Rejection('unauthenticated');
  const byScope = admitByScope(caller, operation);
  return byScope === 'allowed' ? new Rejection('forbidden') : byScope;
};

/** What can be said before the resource is known, and so before anything runs: is the caller signed in, has the token the scope. */
export const admit = (caller: Caller, operation: Operation): 'allowed' | Rejection =>
  conditionFor(operation, 'anonymous') === never ? admitByScope(caller, operation) : 'allowed';

/** As `admit`, where a token must have the scope also for what is public: a write that tells content asks for the right to read. */
export const admitByScope = (caller: Caller, operation: Operation): 'allowed' | Rejection => {
  switch (caller.kind) {
    case 'anonymous':
      return conditionFor(operation, 'anonymous') === never ? new Rejection('unauthenticated') : 'allowed';
    case 'user':
      return hasScope(caller, operation) ? 'allowed' : new Rejection('insufficient_scope', { scope: scopeOf(operation) });
    case 'system':
      return 'allowed';
  }
};

/** The answer alone: what a caller may not see is absent. */
export const may = (caller: Caller, operation: Operation, resource: Resource): boolean => {
  const reach = reachOf(caller, operation);
  if (reach === 'always' || reach === 'never') return reach === 'always';
  const userId = caller.kind === 'user' ? caller.userId : null;
  return reach.some((fact) => holds(fact, resource, userId));
};

/** As `may`, whatever the scopes of the token: whether the thing is there for whoever the caller is. */
export const isInReach = (caller: Caller, operation: Operation, resource: Resource): boolean =>
  may(caller.kind === 'user' ? { ...caller, scopes: new Set([scopeOf(operation)]) } : caller, operation, resource);

/**
 * How far a right of a caller goes, for filters: over everything, nothing, or that of which one of the facts is true. A token without
 * the scope reaches as far as no token does: what is public needs no scope.
 */
export const reachOf = (caller: Caller, operation: Operation): Condition => {
  switch (caller.kind) {
    case 'anonymous':
      return conditionFor(operation, 'anonymous');
    case 'user':
      return conditionFor(operation, hasScope(caller, operation) ? caller.role : 'anonymous');
    case 'system':
      return 'always';
  }
};

const hasScope = ({ scopes }: Extract<Caller, { kind: 'user' }>, operation: Operation): boolean =>
  isKnown(operation) && scopes.has(scopeOf(operation));

const isKnown = (operation: string): operation is Operation => Object.hasOwn(POLICY, operation);

/** Another release may have written down an operation or a role that this one does not know: nobody has a right to it. */
const conditionFor = (operation: Operation, by: 'anonymous' | Role): Condition =>
  isKnown(operation) ? ((POLICY[operation] as Partial<Rule>)[by] ?? never) : never;

/** `userId` is `null` for anonymous callers, who own nothing. */
const holds = (fact: Fact, resource: Resource, userId: UserId | null): boolean => {
  switch (fact) {
    case 'own':
      return userId !== null && resource.ownerId === userId;
    case 'on_own_article':
      return userId !== null && resource.articleAuthorId === userId;
    case 'published':
      return resource.articleStatus === 'published';
  }
};

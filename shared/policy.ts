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
  'manage:clients',
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

const yes = (): boolean => true;
const never = (): boolean => false;
const own: Condition = (resource, userId) => resource.ownerId === userId;
const onOwnArticle: Condition = (resource, userId) => resource.articleAuthorId === userId;
const published: Condition = (resource) => resource.articleStatus === 'published';
const either =
  (one: Condition, other: Condition): Condition =>
  (resource, userId) =>
    one(resource, userId) || other(resource, userId);

/** `userId` is `null` for anonymous callers. */
type Condition = (resource: Resource, userId: UserId | null) => boolean;

type Rule = { readonly scope: Scope } & Readonly<Record<'anonymous' | Role, Condition>>;

/**
 * Who may do what: effective right = scope ∧ role ∧ ownership. Anonymous callers have no scopes, so only their cell counts.
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

  'article.read': { scope: 'read:articles', anonymous: published, reader: published, author: either(published, own), admin: yes },
  'article.create': { scope: 'write:articles', anonymous: never, reader: never, author: own, admin: yes },
  'article.edit': { scope: 'write:articles', anonymous: never, reader: never, author: own, admin: yes },
  'article.publish': { scope: 'publish:articles', anonymous: never, reader: never, author: own, admin: yes },
  'article.unpublish': { scope: 'publish:articles', anonymous: never, reader: never, author: own, admin: yes },
  'article.delete': { scope: 'write:articles', anonymous: never, reader: never, author: own, admin: yes },

  // what can be read of an article can be read of its comments
  'comment.read': { scope: 'read:comments', anonymous: published, reader: published, author: either(published, onOwnArticle), admin: yes },
  'comment.add': { scope: 'write:comments', anonymous: never, reader: own, author: own, admin: yes },
  'comment.edit': { scope: 'write:comments', anonymous: never, reader: own, author: own, admin: yes },
  'comment.delete': { scope: 'write:comments', anonymous: never, reader: own, author: either(own, onOwnArticle), admin: yes },

  'webhook.manage': { scope: 'manage:webhooks', anonymous: never, reader: own, author: own, admin: yes },
  'client.manage': { scope: 'manage:clients', anonymous: never, reader: never, author: never, admin: yes },
  // only of what they may read, which the read rules of the single items say
  'events.read': { scope: 'read:events', anonymous: never, reader: yes, author: yes, admin: yes },
} as const satisfies Record<string, Rule>;

export type Operation = keyof typeof POLICY;
export const OPERATIONS = Object.keys(POLICY) as readonly Operation[];

/** The whole question. A refusal comes in the order in which a caller can do something about it: sign in, get the scope, give up. */
export const authorize = (caller: Caller, operation: Operation, resource: Resource): 'allowed' | Rejection => {
  const admission = admit(caller, operation);
  if (admission !== 'allowed' || may(caller, operation, resource)) return admission;
  return new Rejection(caller.kind === 'anonymous' ? 'unauthenticated' : 'forbidden');
};

/** What can be said before the resource is known, and so before anything runs: is the caller signed in, has the token the scope. */
export const admit = (caller: Caller, operation: Operation): 'allowed' | Rejection => {
  const rule: Rule = POLICY[operation];
  switch (caller.kind) {
    case 'anonymous':
      return rule.anonymous === never ? new Rejection('unauthenticated') : 'allowed';
    case 'user':
      return caller.scopes.has(rule.scope) ? 'allowed' : new Rejection('insufficient_scope', { scope: rule.scope });
    case 'system':
      return 'allowed';
  }
};

/** The answer alone, for filters: what a caller may not see is absent. */
export const may = (caller: Caller, operation: Operation, resource: Resource): boolean => {
  const rule: Rule = POLICY[operation];
  switch (caller.kind) {
    case 'anonymous':
      return rule.anonymous(resource, null);
    case 'user':
      return caller.scopes.has(rule.scope) && rule[caller.role](resource, caller.userId);
    case 'system':
      return true;
  }
};

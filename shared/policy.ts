// Over 200 lines, because it is one thing: the caller, and all questions about its rights.

import { AUDITOR } from '#kernel/base/auditor.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import type { Actor } from '#kernel/base/events/metadata.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { always, type Expression, never } from '#kernel/conditions/expression.ts';
import { type Check, checkOf, type Facts } from '#kernel/conditions/facts.ts';
import { type Attributes, anyHoldsOf, type Find, type State } from '#kernel/conditions/holds.ts';
import {
  apart,
  cellOf,
  EVERYTHING,
  NOTHING,
  operationOf,
  type Reach,
  type Right,
  rightsOf,
} from '#kernel/conditions/rights.ts';
import { type PartName, serves } from '#kernel/registry/parts.ts';
import type { Domain, Row } from '#kernel/registry/registry.ts';
import { isAuditorRole, seeing } from '#kernel/registry/roles.ts';
import { managedKindsOf } from '#kernel/webhook/managed-kinds.ts';

/**
 * The sender of a request, with the policy that decides its rights. A service client is the user of its
 * service account.
 */
export type Caller =
  | { readonly kind: 'anonymous'; readonly policy: Policy }
  | {
      readonly kind: 'user';
      readonly policy: Policy;
      readonly userId: UserId;
      readonly role: Role;
      readonly scopes: ReadonlySet<string>;
      /**
       * The caller’s own fields that rights compare with others; undefined in a domain without such rights.
       */
      readonly attributes?: Attributes | undefined;
      /** The OAuth client of the token. */
      readonly client: string | null;
      /**
       * A call of a tool, a client for which nobody vouches, or a token without a sign-in. Set only in domains with
       * `confirm` or `signed`, which ask for it.
       */
      readonly by?: 'tool' | 'agent' | 'service' | undefined;
    }
  /** A service whose signed message the inbox has verified. It has the rights of its role, and is no user. */
  | {
      readonly kind: 'sender';
      readonly policy: Policy;
      readonly name: string;
      readonly role: Role;
      readonly scopes: ReadonlySet<string>;
    }
  /** A part of the system itself, such as the process manager; it may do everything. */
  | {
      readonly kind: 'system';
      readonly name: string;
      /** The user who is the author of its changes, as an import claims, with the fields that conditions compare. */
      readonly actingFor?:
        | { readonly userId: UserId; readonly attributes: Attributes | undefined }
        | undefined;
    };

/**
 * The client of the account pages. Nobody can register it, and its tokens have none of our scopes by
 * themselves: a caller of this client with such a scope is the account page, where somebody has just signed
 * in.
 */
export const ACCOUNT_CLIENT_ID = 'annals-account';

/**
 * The name of a personal access token, in place of a client, in events. Nobody can register it: the ids of
 * clients have no colon.
 */
export const personalTokenClient = (tokenId: string): string => `annals-token:${tokenId}`;

/**
 * The name of an agent in events, in place of a client: the application that the user has signed in to, and the
 * agent that has its rights from there. Nobody can register it: the ids of clients have no such sign.
 */
export const agentClient = ({
  sub: agent,
  act: { sub: application },
}: {
  readonly sub: string;
  readonly act: { readonly sub: string };
}): string => `${application}>${agent}`;

/**
 * The client that a user’s rate limit is of. Agents share one, as do clients that documents describe: a user may have
 * any number of them.
 */
export const limitedClient = (client: string | null): string =>
  client !== null && (client.includes('>') || client.includes('/')) ? '>' : (client ?? '');

/**
 * Whether an agent sends this: on behalf of a user, as a client with a document or one that has registered
 * itself, by a personal access token, or as a tool. A service that acts for itself is none.
 */
export const isAgent = (caller: Caller): boolean =>
  caller.kind === 'user' &&
  (caller.by === 'tool' || caller.by === 'agent' || /[>:/]/.test(caller.client ?? ''));

/** Whether a person sends this, who has signed in. */
export const isPerson = (caller: Caller): boolean =>
  caller.kind === 'user' && caller.by === undefined && !isAgent(caller);

/** The same caller as if without a token. */
export const withoutToken = (caller: Caller): Caller =>
  caller.kind === 'user' ? { kind: 'anonymous', policy: caller.policy } : caller;

/** The caller in the form of event metadata. */
export const actorOf = (caller: Caller): Actor => {
  switch (caller.kind) {
    case 'anonymous':
      return 'anonymous';
    case 'user':
      return `user:${caller.userId}`;
    case 'sender':
      return `system:${SENDER_PREFIX}${caller.name}`;
    case 'system':
      return `system:${caller.name}`;
  }
};

/** Of senders among the parts of the system: `system:inbox-stripe`. */
const SENDER_PREFIX = 'inbox-';

/** Whether a sender of the inbox is the author. */
export const isOfSender = (actor: unknown): boolean =>
  typeof actor === 'string' && actor.startsWith(`system:${SENDER_PREFIX}`);

/** A sender of the domain, with the rights of its role. No token limits it. */
export const senderCaller = (
  policy: Policy,
  { name, role }: { readonly name: string; readonly role: Role },
): Extract<Caller, { kind: 'sender' }> => ({
  ...{ kind: 'sender', policy, name, role },
  scopes: new Set(policy.scopes),
});

/**
 * The object of a right: the fields of an existing or future aggregate that the right depends on, and its
 * referenced aggregates. Kernel objects have an `owner`.
 */
export type Resource = { readonly fields?: State; readonly find?: Find };

/**
 * The rights of callers: effective right = scope ∧ role ∧ ownership, for the aggregates of a domain and the
 * kernel’s own objects.
 */
export type Policy = {
  readonly domain: Domain;
  /**
   * By operation, as `user.update`. Nobody has a right to an unlisted operation, perhaps of another release.
   */
  readonly rights: ReadonlyMap<string, Right>;
  /** By the conditions of all rights. */
  readonly checks: ReadonlyMap<Expression, Check>;
  /** Every scope that a token can have, those of the domain first. */
  readonly scopes: readonly string[];
};

/** A right of the kernel. That of a part exists only where it is served. */
type KernelRow = Row & {
  readonly scope: string;
  readonly part?: PartName;
  /** Whether auditors have it as administrators do: it changes nothing, or only what the caller alone has. */
  readonly auditors?: true;
};

/** Operations on objects that are no aggregates. */
const KERNEL: Readonly<Record<Operation, KernelRow>> = {
  // limited by the right to read each item
  'events.read': { scope: 'read:events', signedIn: true, auditors: true },
  // the client, the request and the cause of a change
  'events.trace': { scope: 'read:events', signedIn: 'own', auditors: true },
  // the whole log as it was recorded
  'events.export': { scope: 'read:events', auditors: true },
  // the state of the installation, and parked aggregates
  'operations.read': { scope: 'read:events', auditors: true },
  // the schema of GraphQL, if the settings hide it from everybody else
  'schema.read': { scope: 'read:schema', signedIn: true, part: 'graphql', auditors: true },
  'client.manage': { scope: 'manage:clients', part: 'accounts' },
  // one’s own personal access tokens
  'token.manage': { scope: 'manage:tokens', signedIn: true, part: 'accounts', auditors: true },
  // the sessions, applications and tokens of others, invitations, and who may sign in
  'account.manage': { scope: 'manage:accounts', part: 'accounts' },
  'operations.manage': { scope: 'manage:operations' },
};

export const policyOf = oncePer((domain: Domain): Policy => makePolicy(domain));

/** The policy without a domain. */
export const NO_RIGHTS: Policy = {
  domain: { name: '', roles: [], signUp: '', kinds: {}, views: [] },
  rights: new Map(),
  checks: new Map(),
  scopes: [],
};

const makePolicy = (domain: Domain): Policy => {
  const rights = new Map(rightsOf(domain));
  for (const [operation, { part, auditors, ...row }] of Object.entries(KERNEL)) {
    if (part !== undefined && !serves(domain, part)) continue;
    const byRole = domain.roles.map((role) => {
      const isAuditor = isAuditorRole(domain, role);
      if (isAuditor && auditors !== true) return [role, never] as const;
      return [role, kernelCondition(row, isAuditor ? 'admin' : role)] as const;
    });
    rights.set(operation, { operation, scope: row.scope, kind: undefined, ...apart(byRole) });
  }
  for (const right of [...rights.values()]) withSeeing(domain, right, rights);
  const scopes = [...new Set([...rights.values()].map(({ scope }) => scope))];
  const all = [...rights.values()].flatMap(({ kind, alternatives }) =>
    alternatives.map((each) => [each, kind] as const),
  );
  const checks = all.map(([each, kind]) => [each, checkOf(each, { domain, kind, path: [] })] as const);
  return { domain, rights, checks: new Map([...checks, [always, () => true]]), scopes };
};

/** Auditors see what administrators manage, by a right apart. */
const withSeeing = (domain: Domain, right: Right, rights: Map<string, Right>): void => {
  const isOfDomain = right.kind !== undefined && !right.kind.isManaged;
  if (domain.auditors !== true || isOfDomain || right.byRole.get(AUDITOR)?.size !== 0) return;
  const operation = seeing(domain, right.operation as Operation);
  const byRole = new Map(right.byRole).set(AUDITOR, right.byRole.get('admin') ?? NOTHING);
  rights.set(operation, { ...right, operation, byRole });
};

const kernelCondition = (row: Row, role: string): Expression => {
  const cell = cellOf(row, role);
  return cell === 'own' ? { op: 'caller', field: 'owner' } : cell === true ? always : never;
};

/** The right that an operation needs: one that reads what others manage needs only to see it. */
export const rightByMethod = (caller: Caller, right: Operation, method: string): Operation => {
  if (caller.kind === 'system' || (method !== 'GET' && method !== 'HEAD')) return right;
  const seen = seeing(caller.policy.domain, right);
  return caller.policy.rights.has(seen) ? seen : right;
};

/** The scope that a token must have for it, unless it is public. */
export const scopeOf = ({ rights }: Policy, operation: Operation): string => {
  const right = rights.get(operation);
  if (right === undefined) throw new RangeError(`There is no operation ${operation}`);
  return right.scope;
};

/** The scopes that limit the events a webhook receives: those of reading, and that of webhooks. */
export const scopesOfEvents = (policy: Policy): readonly string[] => {
  const reading = Object.values(policy.domain.kinds).map((kind) =>
    scopeOf(policy, operationOf(kind, 'read')),
  );
  const managing = managedKindsOf(policy.domain).map((kind) =>
    scopeOf(policy, operationOf(kind, 'manage') as Operation),
  );
  return [...new Set([...reading, ...managing])];
};

/** Whether a caller without a token has any part of the right. */
export const isPublic = ({ rights }: Policy, operation: Operation): boolean =>
  (rights.get(operation)?.byRole.get('anonymous') ?? NOTHING).size > 0;

/**
 * The whole check. Refusals come in the order in which a caller can react: sign in, get the scope, give up.
 */
export const authorize = (
  caller: Caller,
  operation: Operation,
  resource: Resource,
): 'allowed' | Rejection => {
  const admission = admit(caller, operation);
  if (admission !== 'allowed' || may(caller, operation, resource)) return admission;
  if (caller.kind === 'anonymous') return new Rejection('unauthenticated');
  const byScope = admitByScope(caller, operation);
  return byScope === 'allowed' ? new Rejection('forbidden') : byScope;
};

/**
 * The part of the check that needs no resource, before anything runs: is the caller signed in, and does the
 * token have the scope.
 */
export const admit = (caller: Caller, operation: Operation): 'allowed' | Rejection =>
  caller.kind === 'system' || (isPublic(caller.policy, operation) && !isClosed(caller, operation))
    ? 'allowed'
    : admitByScope(caller, operation);

/** Whether the caller is an auditor. */
export const isOfAuditor = (caller: Caller): boolean =>
  caller.kind === 'user' && isAuditorRole(caller.policy.domain, caller.role);

/** Auditors have not even the rights of callers without a token to what they may not do. */
const isClosed = (caller: Exclude<Caller, { kind: 'system' }>, operation: Operation): boolean =>
  isOfAuditor(caller) && (caller.policy.rights.get(operation)?.byRole.get(AUDITOR) ?? NOTHING).size === 0;

/**
 * Like `admit`, but a token must have the scope even for a public right: a write that reveals content needs
 * the right to read it.
 */
export const admitByScope = (caller: Caller, operation: Operation): 'allowed' | Rejection => {
  switch (caller.kind) {
    case 'anonymous':
      return isPublic(caller.policy, operation) ? 'allowed' : new Rejection('unauthenticated');
    case 'user':
    case 'sender':
      if (isClosed(caller, operation)) return new Rejection('forbidden');
      return hasScope(caller, operation)
        ? 'allowed'
        : new Rejection('insufficient_scope', { scope: scopeOf(caller.policy, operation) });
    case 'system':
      return 'allowed';
  }
};

/** The result alone: a hidden item is absent. */
export const may = (
  caller: Caller,
  operation: Operation,
  { fields = NO_FIELDS, find = findNothing }: Resource,
): boolean => {
  return anyHoldsOf(reachOf(caller, operation))(fields, userIdOf(caller), find, ownOf(caller));
};

/** Whether a right includes the resource. */
export type MayDo = (resource: Resource) => boolean;

/** The same for many resources; looks up the right once. */
export const mayOf = (caller: Caller, operation: Operation): MayDo => {
  const reach = reachOf(caller, operation);
  if (reach.size === 0) return isNever;
  if (reach.has(always)) return isAlways;
  const [holds, userId, own] = [anyHoldsOf(reach), userIdOf(caller), ownOf(caller)];
  return ({ fields = NO_FIELDS, find = findNothing }) => holds(fields, userId, find, own);
};

const isNever: MayDo = () => false;
const isAlways: MayDo = () => true;
/** Null for anonymous callers. */
export const userIdOf = (caller: Caller): UserId | null => {
  switch (caller.kind) {
    case 'user':
      return caller.userId;
    case 'system':
      return caller.actingFor?.userId ?? null;
    case 'sender':
    case 'anonymous':
      return null;
  }
};
/** The caller’s fields that conditions can compare. */
export const ownOf = (caller: Caller): Attributes | undefined =>
  caller.kind === 'system'
    ? caller.actingFor?.attributes
    : caller.kind === 'user'
      ? caller.attributes
      : undefined;

const NO_FIELDS: State = {};
const findNothing: Find = () => undefined;

/** Like `may`, for the facts in a change. */
export const mayByFacts = (caller: Caller, operation: Operation, facts: Facts): boolean => {
  if (caller.kind === 'system') return true;
  const [userId, own] = [userIdOf(caller), ownOf(caller)];
  for (const condition of reachOf(caller, operation))
    if (caller.policy.checks.get(condition)?.(facts, userId, own)) return true;
  return false;
};

/** Like `may`, whatever the scopes of the token: whether the resource exists for this user. */
export const isInReach = (caller: Caller, operation: Operation, resource: Resource): boolean =>
  may(
    caller.kind === 'user' ? { ...caller, scopes: new Set([scopeOf(caller.policy, operation)]) } : caller,
    operation,
    resource,
  );

/**
 * The conditions of a caller’s right, for filters. A token without the scope has the rights of an anonymous
 * caller: public rights need no scope.
 */
export const reachOf = (caller: Caller, operation: Operation): Reach => {
  if (caller.kind === 'system') return EVERYTHING;
  if (isClosed(caller, operation)) return NOTHING;
  const right = caller.policy.rights.get(operation);
  const role =
    (caller.kind === 'user' || caller.kind === 'sender') &&
    right !== undefined &&
    caller.scopes.has(right.scope)
      ? caller.role
      : 'anonymous';
  return right?.byRole.get(role) ?? NOTHING;
};

/** Whether a caller’s right includes everything. */
export const mayAlways = (caller: Caller, operation: Operation): boolean =>
  reachOf(caller, operation).has(always);

const hasScope = (
  { policy, scopes }: Extract<Caller, { kind: 'user' | 'sender' }>,
  operation: Operation,
): boolean => {
  const scope = policy.rights.get(operation)?.scope;
  return scope !== undefined && scopes.has(scope);
};

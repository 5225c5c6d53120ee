import { authorize, type Caller, type Operation } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';

/**
 * Whoever decides what a client is can act as it, so nobody gives a client more than they have themselves: a
 * token for clients alone would otherwise be one for everything. The scopes of OpenID Connect are given by
 * users, and no token for our API has them.
 */
export const demandScopes = (caller: Caller, scopes: readonly string[]): void => {
  if (caller.kind === 'system') return;
  const held: ReadonlySet<string> = caller.kind === 'user' ? caller.scopes : new Set();
  const missing = scopes.find((scope) => caller.policy.scopes.includes(scope) && !held.has(scope));
  if (missing !== undefined) throw new Rejection('insufficient_scope', { scope: missing });
};

/**
 * A service account is a user: who makes one must be allowed to register users, and to give them more than
 * the least role.
 */
export const demandAccountMaker = (caller: Caller, hasMore: boolean): void => {
  demand(caller, 'user.register');
  if (hasMore) demandRoleGiver(caller);
};

/**
 * An account with a higher role can do more than the token that makes it, so the token must allow to give
 * roles.
 */
export const demandRoleGiver = (caller: Caller): void => demand(caller, 'user.change_role');

const demand = (caller: Caller, operation: Operation): void => {
  const answer = authorize(caller, operation, {});
  if (answer !== 'allowed') throw answer;
};

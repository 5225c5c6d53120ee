import type { Operation } from '#kernel/base/operation.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { authorize, type Caller } from '#shared/policy.ts';

/**
 * A caller who configures a client can act as it. So nobody may give a client more scopes than they have:
 * otherwise a token for managing clients would be a token for everything. Scopes of OpenID Connect are
 * exempt: users grant them, and no token for our API has them.
 */
export const demandScopes = (caller: Caller, scopes: readonly string[]): void => {
  if (caller.kind === 'system') return;
  const held: ReadonlySet<string> = caller.kind === 'user' ? caller.scopes : new Set();
  const missing = scopes.find((scope) => caller.policy.scopes.includes(scope) && !held.has(scope));
  if (missing !== undefined) throw new Rejection('insufficient_scope', { scope: missing });
};

/**
 * A service account is a user, so its maker needs the right to register users, and the right to change roles
 * for more than the least role.
 */
export const demandAccountMaker = (caller: Caller, hasMore: boolean): void => {
  demand(caller, 'user.register');
  if (hasMore) demandRoleGiver(caller);
};

/**
 * An account with a higher role can do more than the token that makes it, so the token must allow changing
 * roles.
 */
export const demandRoleGiver = (caller: Caller): void => demand(caller, 'user.change_role');

const demand = (caller: Caller, operation: Operation): void => {
  const answer = authorize(caller, operation, {});
  if (answer !== 'allowed') throw answer;
};

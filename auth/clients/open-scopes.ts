import type { Policy } from '#shared/policy.ts';

/**
 * The scopes of what users do with their own data, for applications for which nobody vouches, and for agents. Changing
 * users and managing webhooks, clients, tokens or accounts would lead to access that outlasts the one given.
 */
export const openScopesOf = ({ scopes }: Policy): readonly string[] =>
  scopes.filter((scope) => !NOT_OPEN.has(scope) && !/^(?:manage|confirm):/.test(scope));

const NOT_OPEN: ReadonlySet<string> = new Set(['write:users', 'read:schema']);

import { isDeepStrictEqual } from 'node:util';
import { type ClientSettings, OIDC_SCOPES } from '#shared/clients/settings.ts';
import type { StoredClient } from './client.ts';

export const changedFields = (before: ClientSettings, after: ClientSettings): (keyof ClientSettings)[] =>
  (Object.keys(before) as (keyof ClientSettings)[]).filter(
    (field) => !isDeepStrictEqual(before[field], after[field]),
  );

/** What ends with a change: the tokens alone, or what users have granted with them. */
export type Ending = 'nothing' | 'tokens' | 'grants';

export const endingOf = (before: StoredClient, after: StoredClient): Ending => {
  if (endsGrants(before, after)) return 'grants';
  return endsTokens(before, after) ? 'tokens' : 'nothing';
};

/**
 * Whether grants that were made before a change say more than users would be asked for now. Scopes of the API
 * are compared with the client's again at each use of a grant; those about the user are not, and neither is
 * whether a user was asked.
 */
const endsGrants = (before: StoredClient, after: StoredClient): boolean =>
  (!before.disabled && after.disabled) ||
  (before.firstParty && !after.firstParty) ||
  OIDC_SCOPES.some((scope) => before.scopes.includes(scope) && !after.scopes.includes(scope));

/** Whether tokens that were issued before a change say more than the client may now. */
const endsTokens = (before: StoredClient, after: StoredClient): boolean =>
  lacksSome(before.scopes, after.scopes) ||
  lacksSome(before.grantTypes, after.grantTypes) ||
  (!before.requireDpop && after.requireDpop) ||
  PROOFS.some((field) => !isDeepStrictEqual(before[field], after[field]));

/** How a client proves who it is: whoever could do so before may not be the one who can now. */
const PROOFS = [
  'tokenEndpointAuthMethod',
  'jwks',
  'tlsClientAuthSubject',
] as const satisfies readonly (keyof StoredClient)[];

const lacksSome = (before: readonly string[], after: readonly string[]): boolean =>
  before.some((item) => !after.includes(item));

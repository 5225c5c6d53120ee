import { isDeepStrictEqual } from 'node:util';
import { type ClientSettings, OIDC_SCOPES } from '#shared/clients/settings.ts';
import type { StoredClient } from '../storage/client.ts';

export const changedFields = (before: ClientSettings, after: ClientSettings): (keyof ClientSettings)[] =>
  (Object.keys(before) as (keyof ClientSettings)[]).filter(
    (field) => !isDeepStrictEqual(before[field], after[field]),
  );

/** The consequence of a change: it ends nothing, the client's tokens, or also its users' grants. */
export type Ending = 'nothing' | 'tokens' | 'grants';

export const endingOf = (before: StoredClient, after: StoredClient): Ending => {
  if (endsGrants(before, after)) return 'grants';
  return endsTokens(before, after) ? 'tokens' : 'nothing';
};

/**
 * Returns whether earlier grants allow more than users would be asked for now. Each use of a grant compares
 * its API scopes with the client's again. Nothing rechecks identity scopes or whether the user was asked, so
 * those changes end grants.
 */
const endsGrants = (before: StoredClient, after: StoredClient): boolean =>
  (!before.disabled && after.disabled) ||
  (before.firstParty && !after.firstParty) ||
  OIDC_SCOPES.some((scope) => before.scopes.includes(scope) && !after.scopes.includes(scope));

/** Returns whether tokens issued before a change allow more than the client may do now. */
const endsTokens = (before: StoredClient, after: StoredClient): boolean =>
  lacksSome(before.scopes, after.scopes) ||
  lacksSome(before.grantTypes, after.grantTypes) ||
  (!before.requireDpop && after.requireDpop) ||
  PROOFS.some((field) => !isDeepStrictEqual(before[field], after[field]));

/**
 * How a client authenticates. After a change, the party that could do so before may not be the one that can
 * now.
 */
const PROOFS = [
  'tokenEndpointAuthMethod',
  'jwks',
  'tlsClientAuthSubject',
] as const satisfies readonly (keyof StoredClient)[];

const lacksSome = (before: readonly string[], after: readonly string[]): boolean =>
  before.some((item) => !after.includes(item));

import { isDeepStrictEqual } from 'node:util';
import type { ClientSettings, StoredClient } from './client.ts';

export const changedFields = (before: ClientSettings, after: ClientSettings): (keyof ClientSettings)[] =>
  (Object.keys(before) as (keyof ClientSettings)[]).filter((field) => !isDeepStrictEqual(before[field], after[field]));

/** Whether tokens that were issued before a change say more than the client may now. */
export const endsTokens = (before: StoredClient, after: StoredClient): boolean =>
  (!before.disabled && after.disabled) ||
  lacksSome(before.scopes, after.scopes) ||
  lacksSome(before.grantTypes, after.grantTypes) ||
  (!before.requireDpop && after.requireDpop) ||
  PROOFS.some((field) => !isDeepStrictEqual(before[field], after[field]));

/** How a client proves who it is: whoever could do so before may not be the one who can now. */
const PROOFS = ['tokenEndpointAuthMethod', 'jwks', 'tlsClientAuthSubject'] as const satisfies readonly (keyof StoredClient)[];

const lacksSome = (before: readonly string[], after: readonly string[]): boolean => before.some((item) => !after.includes(item));

import type { JSONWebKeySet } from 'jose';
import type { SigningKeys } from '../signing-keys/signing-keys.ts';

/** The keys as everybody may know them. */
export const publicKeysOf = (keys: SigningKeys): JSONWebKeySet => ({
  keys: keys.map(({ d: _, ...publicKey }) => publicKey),
});

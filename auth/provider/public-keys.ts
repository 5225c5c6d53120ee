import type { JSONWebKeySet } from 'jose';
import type { SigningKeys } from '../signing-keys/signing-keys.ts';

export const publicKeysOf = (keys: SigningKeys): JSONWebKeySet => ({
  keys: keys.map(({ d: _, ...publicKey }) => publicKey),
});

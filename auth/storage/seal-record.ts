import { createHmac, createSecretKey } from 'node:crypto';
import type { AdapterPayload } from 'oidc-provider';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import { seal, unseal } from '#shared/keys/seal.ts';

/** Hides records: keyed digests as names, and contents by AES-256-GCM, bound to their row. */
export type RecordSeal = {
  hash(kind: string, name: string): Buffer;
  seal(kind: string, idHash: Buffer, payload: AdapterPayload): Buffer;
  unseal(kind: string, idHash: Buffer, sealed: Buffer): AdapterPayload;
};

export const createRecordSeal = (masterKey: MasterKey): RecordSeal => {
  const contentKey = createSecretKey(deriveKey(masterKey, 'auth-record'));
  // A user code is short enough to be guessed from a plain digest.
  const nameKey = createSecretKey(deriveKey(masterKey, 'auth-lookup'));
  const bindingOf = (kind: string, idHash: Buffer) => `auth-record:${kind}:${idHash.toString('base64url')}`;
  return {
    hash: (kind, name) => createHmac('sha256', nameKey).update(`${kind}\0${name}`).digest(),
    seal: (kind, idHash, payload) =>
      seal(contentKey, Buffer.from(JSON.stringify(payload)), bindingOf(kind, idHash)),
    // Decrypts what `seal` got from oidc-provider.
    unseal: (kind, idHash, sealed) =>
      JSON.parse(unseal(contentKey, sealed, bindingOf(kind, idHash)).toString('utf8')) as AdapterPayload,
  };
};

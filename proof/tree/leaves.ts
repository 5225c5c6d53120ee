import { createHmac, createSecretKey } from 'node:crypto';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import { leafHash, saltedEntry } from './hashes.ts';

/**
 * The leaves of the tree. Everybody may read the tree, so each entry is salted: nobody can guess the content of
 * an event and compare. A proof reveals the salt of its event, which is that of no other event.
 */
export type Leaves = {
  /** The hash is that of the canonical form of the event, as in the chain. */
  readonly saltOf: (index: number, hash: Uint8Array) => Buffer;
  /** The entry of the log for this event, which is public. */
  readonly entryOf: (index: number, hash: Uint8Array) => Buffer;
  readonly leafOf: (index: number, hash: Uint8Array) => Buffer;
};

export const leavesOf = (masterKey: MasterKey): Leaves => {
  const key = createSecretKey(deriveKey(masterKey, 'proof-salt'));
  const saltOf = (index: number, hash: Uint8Array): Buffer => {
    const number = Buffer.alloc(8);
    number.writeBigUInt64BE(BigInt(index));
    return createHmac('sha256', key).update(number).update(hash).digest();
  };
  const entryOf = (index: number, hash: Uint8Array): Buffer => saltedEntry(saltOf(index, hash), hash);
  return { saltOf, entryOf, leafOf: (index, hash) => leafHash(entryOf(index, hash)) };
};

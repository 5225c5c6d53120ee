import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import { HASH_BYTES } from '../stored/chain.ts';
import { sha256 } from '../stored/sha256.ts';
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
  const key = deriveKey(masterKey, 'proof-salt');
  const [inner, outer] = [padded(key, 0x36, NUMBER_BYTES + HASH_BYTES), padded(key, 0x5c, HASH_BYTES)];
  const saltOf = (index: number, hash: Uint8Array): Buffer => {
    inner.writeBigUInt64BE(BigInt(index), BLOCK_BYTES);
    inner.set(hash, BLOCK_BYTES + NUMBER_BYTES);
    outer.set(sha256(inner), BLOCK_BYTES);
    return sha256(outer);
  };
  const entryOf = (index: number, hash: Uint8Array): Buffer => saltedEntry(saltOf(index, hash), hash);
  return { saltOf, entryOf, leafOf: (index, hash) => leafHash(entryOf(index, hash)) };
};

/** Of SHA-256. The key is shorter. */
const BLOCK_BYTES = 64;
const NUMBER_BYTES = 8;

/**
 * The key, and room for what follows: HMAC-SHA256 (RFC 2104) in two buffers for all leaves takes a third of the
 * time that an object of `createHmac` takes for each.
 */
const padded = (key: Uint8Array, pad: number, bytes: number): Buffer =>
  Buffer.concat([Buffer.alloc(BLOCK_BYTES).map((_, at) => (key[at] ?? 0) ^ pad), Buffer.alloc(bytes)]);

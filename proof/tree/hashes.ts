import { HASH_BYTES } from '../stored/chain.ts';
import { sha256 } from '../stored/sha256.ts';

/** The hashes of RFC 6962, which RFC 9162 keeps: leaves and nodes are told apart by their first byte. */
const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

export const leafHash = (entry: Uint8Array): Buffer => sha256(Buffer.concat([LEAF, entry]));

/** The entry of the log for an event: nobody who reads it can guess the event and compare. */
export const saltedEntry = (salt: Uint8Array, hashOfEvent: Uint8Array): Buffer =>
  sha256(Buffer.concat([salt, hashOfEvent]));

export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer =>
  sha256(Buffer.concat([NODE, left, right]));

/** The root of a tree of no leaves. */
export const EMPTY_ROOT: Buffer = sha256('');

const IN_BASE64 = /^[A-Za-z0-9+/]{43}=$/;

/** A hash, or a salt, which is as long, in base64; undefined if it is none. */
export const hashIn = (text: unknown): Buffer | undefined =>
  typeof text === 'string' && IN_BASE64.test(text) ? Buffer.from(text, 'base64') : undefined;

/** Undefined if one of them is none. */
export const hashesIn = (texts: readonly unknown[]): readonly Buffer[] | undefined => {
  const hashes = texts.map(hashIn);
  return hashes.every((each) => each !== undefined) ? hashes : undefined;
};

/** The hashes that follow each other without separators. */
export const split = (hashes: Buffer): readonly Buffer[] =>
  Array.from({ length: hashes.length / HASH_BYTES }, (_, at) =>
    hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  );

/** The root over subtrees of one height, whose number is a power of two, given their roots. */
export const rootOfComplete = (roots: readonly Buffer[]): Buffer => {
  let level = roots;
  while (level.length > 1) level = pairs(level);
  const [root] = level;
  if (root === undefined) throw new TypeError('a complete subtree has at least one leaf');
  return root;
};

const pairs = (level: readonly Buffer[]): readonly Buffer[] =>
  Array.from({ length: level.length / 2 }, (_, at) =>
    nodeHash(level[2 * at] as Buffer, level[2 * at + 1] as Buffer),
  );

/** The greatest power of two that is less than `count`, where a tree of `count` leaves is split. */
export const splitOf = (count: number): number => {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
};

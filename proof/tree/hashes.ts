import { createHash } from 'node:crypto';
import { HASH_BYTES } from '../stored/chain.ts';

/** The hashes of RFC 6962, which RFC 9162 keeps: leaves and nodes are told apart by their first byte. */
const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

export const leafHash = (entry: Uint8Array): Buffer =>
  createHash('sha256').update(LEAF).update(entry).digest();

export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer =>
  createHash('sha256').update(NODE).update(left).update(right).digest();

/** The root of a tree of no leaves. */
export const EMPTY_ROOT: Buffer = createHash('sha256').digest();

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
export const splitOf = (count: number): number => 2 ** Math.ceil(Math.log2(count) - 1);

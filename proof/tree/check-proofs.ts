import { nodeHash, splitOf } from './hashes.ts';

/** The checks of RFC 9162 (2.1.3.2 and 2.1.4.2). They know no tree, only a proof and the roots. */

export type Included = {
  readonly leaf: Buffer;
  readonly index: number;
  readonly size: number;
  readonly proof: readonly Buffer[];
};

/** The root that a tree has if the proof is right; undefined if no tree of this size has such a proof. */
export const rootByInclusion = ({ leaf, index, size, proof }: Included): Buffer | undefined => {
  if (index >= size) return undefined;
  let [at, last, root] = [index, size - 1, leaf];
  for (const hash of proof) {
    if (last === 0) return undefined;
    if (at % 2 === 1 || at === last) {
      root = nodeHash(hash, root);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else root = nodeHash(root, hash);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 ? root : undefined;
};

export type AllIncluded = {
  /** In the order of the log. */
  readonly leaves: readonly { readonly index: number; readonly leaf: Buffer }[];
  readonly size: number;
  readonly proof: readonly Buffer[];
};

/**
 * The same of several leaves. The proof has the roots of the greatest subtrees without any of them, from left to
 * right, and nothing else.
 */
export const rootByInclusions = ({ leaves, size, proof }: AllIncluded): Buffer | undefined => {
  const isRising = leaves.every(({ index }, at) => index > (leaves[at - 1]?.index ?? -1));
  if (!isRising || leaves.length === 0 || (leaves.at(-1)?.index ?? 0) >= size) return undefined;
  let [passed, taken] = [0, 0];
  const rootOf = (from: number, to: number): Buffer | undefined => {
    const next = leaves[passed];
    if (next === undefined || next.index >= to) {
      taken += 1;
      return proof[taken - 1];
    }
    if (to - from === 1) {
      passed += 1;
      return next.leaf;
    }
    const middle = from + splitOf(to - from);
    const left = rootOf(from, middle);
    const right = left && rootOf(middle, to);
    return left && right && nodeHash(left, right);
  };
  const root = rootOf(0, size);
  return taken === proof.length ? root : undefined;
};

export type Consistent = {
  readonly former: { readonly size: number; readonly root: Buffer };
  readonly size: number;
  readonly proof: readonly Buffer[];
};

/** The root of the greater tree if the proof is right and fits the former one; undefined otherwise. */
export const rootByConsistency = ({ former, size, proof }: Consistent): Buffer | undefined => {
  if (former.size > size || former.size < 1) return undefined;
  if (former.size === size) return proof.length === 0 ? former.root : undefined;
  const path = isPowerOfTwo(former.size) ? [former.root, ...proof] : proof;
  const [first, ...others] = path;
  if (first === undefined) return undefined;
  let [at, last] = [former.size - 1, size - 1];
  while (at % 2 === 1) [at, last] = [half(at), half(last)];
  let [before, after] = [first, first];
  for (const hash of others) {
    if (last === 0) return undefined;
    if (at % 2 === 1 || at === last) {
      before = nodeHash(hash, before);
      after = nodeHash(hash, after);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else after = nodeHash(after, hash);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && before.equals(former.root) ? after : undefined;
};

const half = (number: number): number => Math.floor(number / 2);

const isPowerOfTwo = (number: number): boolean => number === 1 || splitOf(number) * 2 === number;

import { EMPTY_ROOT, nodeHash, rootOfComplete } from './hashes.ts';

/** The number of hashes in a full tile (C2SP tlog-tiles), which makes a subtree of height 8. */
export const TILE_WIDTH = 256;

/** A full tile: consecutive roots of subtrees of one height, and the root over them. */
export type Tile = {
  readonly level: number;
  readonly index: number;
  readonly hashes: Buffer;
  readonly root: Buffer;
};

/** The right edge of a tree: from level 0 upwards, the hashes that fill no tile yet. */
export type Edge = readonly (readonly Buffer[])[];

/** A Merkle tree that only grows. It knows its right edge, and forgets each tile as soon as it is full. */
export class GrowingTree {
  #size: number;
  readonly #edge: Buffer[][];

  constructor(size = 0, edge: Edge = []) {
    this.#size = size;
    this.#edge = edge.map((level) => [...level]);
  }

  get size(): number {
    return this.#size;
  }

  /** Returns the tiles that this leaf has filled. */
  append(leaf: Buffer): readonly Tile[] {
    const filled: Tile[] = [];
    let hash = leaf;
    for (let level = 0; ; level += 1) {
      this.#edge[level] ??= [];
      const partial = this.#edge[level] as Buffer[];
      partial.push(hash);
      if (partial.length < TILE_WIDTH) break;
      const root = rootOfComplete(partial);
      const index = Math.floor(this.#size / TILE_WIDTH ** (level + 1));
      filled.push({ level, index, hashes: Buffer.concat(partial), root });
      this.#edge[level] = [];
      hash = root;
    }
    this.#size += 1;
    return filled;
  }

  root(): Buffer {
    // The greatest complete subtrees, from right to left.
    const peaks = this.#edge.flatMap((partial) => peaksOf(partial).toReversed());
    const [last, ...others] = peaks;
    return last === undefined ? EMPTY_ROOT : others.reduce((right, left) => nodeHash(left, right), last);
  }
}

/** From left to right. */
const peaksOf = (partial: readonly Buffer[]): readonly Buffer[] => {
  const peaks: Buffer[] = [];
  for (let from = 0, width = TILE_WIDTH / 2; width >= 1; width /= 2) {
    if (partial.length - from < width) continue;
    peaks.push(rootOfComplete(partial.slice(from, from + width)));
    from += width;
  }
  return peaks;
};

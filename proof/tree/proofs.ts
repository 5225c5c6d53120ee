import { HASH_BYTES } from '../stored/chain.ts';
import { TILE_WIDTH } from './growing-tree.ts';
import { nodeHash, rootOfComplete, split, splitOf } from './hashes.ts';

/** The first `width` hashes of a tile. */
export type ReadTile = (level: number, index: number, width: number) => Promise<Buffer>;

/** The proofs of RFC 6962 (2.1) about a tree, whose tiles are read as they are needed. */
export const proofsOf = (read: ReadTile, size: number) => {
  const tile = rememberingTiles(read, size);

  /** The root over a complete subtree. */
  const subtree = async (height: number, index: number): Promise<Buffer> => {
    const level = Math.floor(height / TILE_HEIGHT);
    const count = 2 ** (height % TILE_HEIGHT);
    const first = index * count;
    const hashes = await tile(level, Math.floor(first / TILE_WIDTH));
    const from = (first % TILE_WIDTH) * HASH_BYTES;
    return rootOfComplete(split(hashes.subarray(from, from + count * HASH_BYTES)));
  };

  /** The root over the leaves from `from` to before `to`, which the recursion of the RFC arrives at. */
  const root = async (from: number, to: number): Promise<Buffer> => {
    const count = to - from;
    const half = splitOf(count);
    if (count === 1 || half * 2 === count) return subtree(Math.round(Math.log2(count)), from / count);
    const middle = from + half;
    return nodeHash(await root(from, middle), await root(middle, to));
  };

  const inclusion = async (index: number, from: number, to: number): Promise<readonly Buffer[]> => {
    if (to - from === 1) return [];
    const middle = from + splitOf(to - from);
    return index < middle
      ? [...(await inclusion(index, from, middle)), await root(middle, to)]
      : [...(await inclusion(index, middle, to)), await root(from, middle)];
  };

  const consistency = async (former: number, from: number, to: number): Promise<readonly Buffer[]> => {
    if (former === to) return from === 0 ? [] : [await root(from, to)];
    const middle = from + splitOf(to - from);
    return former <= middle
      ? [...(await consistency(former, from, middle)), await root(middle, to)]
      : [...(await consistency(former, middle, to)), await root(from, middle)];
  };

  /** The roots of the greatest subtrees without any of the leaves, from left to right. */
  async function* around(places: Places, from: number, to: number): AsyncGenerator<Buffer> {
    const next = places.indices[places.passed];
    if (next === undefined || next >= to) {
      yield await root(from, to);
      return;
    }
    if (to - from === 1) {
      places.passed += 1;
      return;
    }
    const middle = from + splitOf(to - from);
    yield* around(places, from, middle);
    yield* around(places, middle, to);
  }

  return {
    /** Proves that several leaves, in rising order, are in the tree. Each hash is sent once, however many need it. */
    inclusions: (indices: readonly number[]): AsyncGenerator<Buffer> =>
      around({ indices, passed: 0 }, 0, size),
    /** Proves that the leaf is in the tree: one hash for each height, from the leaf upwards. */
    inclusion: (index: number): Promise<readonly Buffer[]> => {
      if (index < 0 || index >= size) throw new RangeError(`a tree of ${size} leaves has no leaf ${index}`);
      return inclusion(index, 0, size);
    },
    /** Proves that the tree begins with the same leaves as it had when it had `former` of them. */
    consistency: (former: number): Promise<readonly Buffer[]> => {
      if (former < 1 || former > size)
        throw new RangeError(`a tree of ${size} leaves never had ${former} of them`);
      return consistency(former, 0, size);
    },
    /** The root when the tree had `former` leaves. */
    rootAt: (former: number): Promise<Buffer> => root(0, former),
  };
};

type Places = { readonly indices: readonly number[]; passed: number };

/** A proof of many leaves goes from left to right, and needs few tiles at a time. */
const TILES_KEPT_MAX = 64;

const TILE_HEIGHT = Math.log2(TILE_WIDTH);

const rememberingTiles = (read: ReadTile, size: number) => {
  const tiles = new Map<string, Promise<Buffer>>();
  return (level: number, index: number): Promise<Buffer> => {
    const key = `${level} ${index}`;
    const known = tiles.get(key);
    if (known !== undefined) return known;
    const reading = read(level, index, widthOf(size, level, index));
    tiles.set(key, reading);
    const [oldest] = tiles.keys();
    if (tiles.size > TILES_KEPT_MAX && oldest !== undefined) tiles.delete(oldest);
    return reading;
  };
};

/** The number of hashes that a tile has in a tree of this size: zero if it is beyond its end. */
export const widthOf = (size: number, level: number, index: number): number =>
  Math.min(Math.max(Math.floor(size / TILE_WIDTH ** level) - index * TILE_WIDTH, 0), TILE_WIDTH);

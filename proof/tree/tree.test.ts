import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HASH_BYTES } from '../stored/chain.ts';
import { rootByConsistency, rootByInclusion } from './check-proofs.ts';
import { GrowingTree, type Tile } from './growing-tree.ts';
import { EMPTY_ROOT, leafHash, nodeHash } from './hashes.ts';
import { proofsOf, type ReadTile } from './proofs.ts';

/** The tree that RFC 6962 defines, word by word. */
const rootOf = (leaves: readonly Buffer[]): Buffer => {
  const [leaf] = leaves;
  if (leaf === undefined) return createHash('sha256').digest();
  if (leaves.length === 1) return leaf;
  let middle = 1;
  while (middle * 2 < leaves.length) middle *= 2;
  return nodeHash(rootOf(leaves.slice(0, middle)), rootOf(leaves.slice(middle)));
};

const leavesOf = (count: number): readonly Buffer[] =>
  Array.from({ length: count }, (_, at) => leafHash(Buffer.from(`entry ${at}`)));

const grown = (leaves: readonly Buffer[]) => {
  const tree = new GrowingTree();
  const tiles = leaves.flatMap((leaf) => tree.append(leaf));
  return { tree, tiles };
};

/** Reads partial tiles as the log does: those of level 0 from the leaves, others from the roots below. */
const readerOf =
  (leaves: readonly Buffer[], tiles: readonly Tile[]): ReadTile =>
  async (level, index, width) => {
    const full = tiles.find((tile) => tile.level === level && tile.index === index);
    if (full) return full.hashes.subarray(0, width * HASH_BYTES);
    const below =
      level === 0
        ? leaves
        : tiles
            .filter((tile) => tile.level === level - 1)
            .toSorted((one, other) => one.index - other.index)
            .map(({ root }) => root);
    const hashes = below.slice(index * 256, index * 256 + width);
    expect(hashes).toHaveLength(width);
    return Buffer.concat(hashes);
  };

// The vectors of RFC 6962, as Certificate Transparency has published them.
const ENTRIES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

test('a tree has the roots of Certificate Transparency', () => {
  const tree = new GrowingTree();
  expect(tree.root()).toEqual(EMPTY_ROOT);
  expect(EMPTY_ROOT.toString('hex')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  for (const [at, entry] of ENTRIES.entries()) {
    tree.append(leafHash(Buffer.from(entry, 'hex')));
    expect(tree.root().toString('hex')).toBe(ROOTS[at]);
  }
});

const SIZES = [1, 2, 3, 255, 256, 257, 511, 512, 513, 1_000];

test.each(SIZES)('a tree of %i leaves has its root, whatever its tiles', (size) => {
  const leaves = leavesOf(size);
  const { tree, tiles } = grown(leaves);
  expect(tree.size).toBe(size);
  expect(tree.root()).toEqual(rootOf(leaves));
  expect(tiles.filter(({ level }) => level === 0)).toHaveLength(Math.floor(size / 256));
});

test('a tree over a tile of tiles has its root, and all of its tiles', () => {
  const leaves = leavesOf(65_536 + 300);
  const { tree, tiles } = grown(leaves);
  expect(tree.root()).toEqual(rootOf(leaves));
  expect(tiles.filter(({ level }) => level === 1)).toHaveLength(1);
});

test('each leaf is proven, and only where it is', async () => {
  const leaves = leavesOf(700);
  const { tiles } = grown(leaves);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 700 }), fc.nat(), async (size, chosen) => {
      const index = chosen % size;
      const proof = await proofsOf(readerOf(leaves, tiles), size).inclusion(index);
      const root = rootOf(leaves.slice(0, size));
      const leaf = leaves[index] as Buffer;
      expect(rootByInclusion({ leaf, index, size, proof })).toEqual(root);
      const elsewhere = { leaf, index: (index + 1) % size, size, proof };
      if (size > 1) expect(rootByInclusion(elsewhere)?.equals(root) ?? false).toBe(false);
      expect(rootByInclusion({ leaf, index, size, proof: proof.slice(1) })?.equals(root) ?? false).toBe(
        size === 1,
      );
      expect(rootByInclusion({ leaf, index, size, proof: [...proof, root] })).toBeUndefined();
    }),
    { numRuns: 200 },
  );
});

test('each former tree is proven to be the beginning, and no other one', async () => {
  const leaves = leavesOf(700);
  const { tiles } = grown(leaves);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 700 }), fc.nat(), async (size, chosen) => {
      const former = (chosen % size) + 1;
      const proofs = proofsOf(readerOf(leaves, tiles), size);
      const proof = await proofs.consistency(former);
      const [before, after] = [rootOf(leaves.slice(0, former)), rootOf(leaves.slice(0, size))];
      expect(await proofs.rootAt(former)).toEqual(before);
      expect(rootByConsistency({ former: { size: former, root: before }, size, proof })).toEqual(after);
      const other = { size: former, root: leafHash(before) };
      expect(rootByConsistency({ former: other, size, proof })?.equals(after) ?? false).toBe(false);
    }),
    { numRuns: 200 },
  );
});

test('a tree that is continued from its edge grows like the same tree', async () => {
  const leaves = leavesOf(1_300);
  const { tree, tiles } = grown(leaves);
  const before = grown(leaves.slice(0, 600)).tiles;
  const read = readerOf(leaves, before);
  const continued = new GrowingTree(600, [
    leaves.slice(512, 600),
    [await read(0, 0, 256), await read(0, 1, 256)].map((_, at) => before[at]?.root as Buffer),
  ]);
  const more = leaves.slice(600).flatMap((leaf) => continued.append(leaf));
  expect(continued.root()).toEqual(tree.root());
  expect([...before, ...more]).toEqual(tiles);
});

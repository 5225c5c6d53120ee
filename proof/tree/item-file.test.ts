import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aKey, aLog, EVENTS, ITEM, LOG, LOG_OF_ITEM, OTHER_LOG, VERSIONS } from '../../test/proven-log.ts';
import { rootByInclusions } from './check-proofs.ts';
import { GrowingTree } from './growing-tree.ts';
import { leafHash } from './hashes.ts';
import { checkItemProof } from './item-file.ts';
import type { NoteKey } from './note.ts';
import { proofsOf } from './proofs.ts';
import { originOf } from './tree-head.ts';

const signer = aKey();
const { key } = signer;
const log = aLog(LOG_OF_ITEM);

const reasonOf = (lines: readonly string[], by: NoteKey = key): string => {
  const checked = checkItemProof(lines.join(''), [by]);
  return checked.isProven ? 'proven' : checked.reason;
};

test('a proof shows all versions of an item, and what was last recorded of it', async () => {
  const lines = await log.proveItem(ITEM, signer);
  const checked = checkItemProof(lines.join(''), [key]);
  expect(checked).toMatchObject({
    isProven: true,
    stream: ITEM,
    events: VERSIONS,
    indices: [1, 3, 5, 7],
    facts: [
      { name: 'tags', value: ['x'], version: 1 },
      { name: 'title', value: 'Nº 4', version: 4 },
    ],
    checkpoint: { origin: originOf(LOG), size: EVENTS.length + VERSIONS.length },
  });
});

test('the same item has the same proof', async () => {
  expect(await log.proveItem(ITEM, signer)).toEqual(await log.proveItem(ITEM, signer));
});

const CHANGED = 'The log does not have these events in these places: one of them, or the proof, was changed.';
const CUT = 'The file is no proof of an item, or a part of it is missing.';
const swapped = (lines: readonly string[], one: number, other: number): readonly string[] =>
  lines.with(one, lines[other] as string).with(other, lines[one] as string);

test.each([
  ['lacks its last line', (lines: readonly string[]) => lines.slice(0, -1), CUT],
  ['lacks its hashes', (lines: readonly string[]) => lines.toSpliced(-2, 1), CHANGED],
  [
    'lacks a version',
    (lines: readonly string[]) => lines.toSpliced(2, 1),
    'In the file, version 3 of article-77 comes after version 1: others are missing, or the order was changed.',
  ],
  [
    'lacks the first version',
    (lines: readonly string[]) => lines.toSpliced(1, 1),
    'The file begins with version 2 of article-77, and lacks those before it.',
  ],
  ['lacks the last version', (lines: readonly string[]) => lines.toSpliced(4, 1), CHANGED],
  [
    'has no events',
    (lines: readonly string[]) => lines.toSpliced(1, 4),
    'The file has no event of article-77.',
  ],
  [
    'has two versions exchanged',
    (lines: readonly string[]) => swapped(lines, 2, 3),
    'In the file, version 3 of article-77 comes after version 1: others are missing, or the order was changed.',
  ],
  [
    'has the content of another version',
    (lines: readonly string[]) => lines.with(2, (lines[2] as string).replace('Nº 2', 'Nº 9')),
    CHANGED,
  ],
  [
    'has an event of another item',
    (lines: readonly string[]) => lines.with(2, (lines[2] as string).replace('article-77', 'article-78')),
    'The proof is of article-77, and the file has an event of article-78.',
  ],
  [
    'has something that is no event',
    (lines: readonly string[]) =>
      lines.with(2, (lines[2] as string).replace(/"event":.*\n/, '"event":"1"}\n')),
    'The file has no event of Annals.',
  ],
  [
    'has another checkpoint',
    (lines: readonly string[]) => lines.with(-1, (lines.at(-1) as string).replace('\\n15\\n', '\\n16\\n')),
    'The signature of the checkpoint is wrong: the checkpoint was changed after it was signed.',
  ],
] as const)('a proof that %s is refused in one sentence', async (_, change, reason) => {
  expect(reasonOf(change(await log.proveItem(ITEM, signer)))).toBe(reason);
});

test('a proof of another key or another log is refused', async () => {
  const lines = await log.proveItem(ITEM, signer);
  expect(reasonOf(lines, aKey().key)).toBe(
    'The checkpoint of the proof is signed by none of the given keys.',
  );
  expect(reasonOf(lines, aKey(OTHER_LOG).key)).toBe(
    `The proof is of the log ${originOf(LOG)}, and the given keys are of ${originOf(OTHER_LOG)}.`,
  );
});

test('a proof of which any part is missing, or any character changed, proves nothing else', async () => {
  const text = (await log.proveItem(ITEM, signer)).join('');
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.constantFrom(...'aZ09+/=\n x"{'), (at, by) => {
      expect(checkItemProof(text.slice(0, at), [key]).isProven).toBe(false);
      const checked = checkItemProof(text.slice(0, at) + by + text.slice(at + 1), [key]);
      // The last digit of base64 has bits that mean nothing, and so has space between JSON tokens.
      if (checked.isProven) expect(checked.events).toEqual(VERSIONS);
      else expect(checked.reason).toMatch(/\.$/);
    }),
    { numRuns: 300 },
  );
});

test('any leaves of any tree are proven together, and no others', async () => {
  const leafOf = (index: number): Buffer => leafHash(Buffer.from(String(index)));
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 700 }).chain((size) =>
        fc.record({
          size: fc.constant(size),
          indices: fc
            .uniqueArray(fc.nat(size - 1), { minLength: 1, maxLength: 20 })
            .map((all) => all.toSorted((one, other) => one - other)),
        }),
      ),
      async ({ size, indices }) => {
        const tree = new GrowingTree();
        const tiles = new Map<string, Buffer>();
        for (let index = 0; index < size; index += 1)
          for (const { level, index: at, hashes } of tree.append(leafOf(index)))
            tiles.set(`${level} ${at}`, hashes);
        const read = async (level: number, at: number, width: number): Promise<Buffer> => {
          const full = tiles.get(`${level} ${at}`);
          if (full !== undefined) return full;
          return level === 0
            ? Buffer.concat(Array.from({ length: width }, (_, n) => leafOf(at * 256 + n)))
            : Buffer.concat(
                Array.from({ length: width }, (_, n) => rootOfTile(tiles.get(`0 ${n}`) as Buffer)),
              );
        };
        const proof = await Array.fromAsync(proofsOf(read, size).inclusions(indices));
        const leaves = indices.map((index) => ({ index, leaf: leafOf(index) }));
        expect(rootByInclusions({ leaves, size, proof })).toEqual(tree.root());
        const other = leaves.with(0, { index: indices[0] as number, leaf: leafOf(size) });
        expect(rootByInclusions({ leaves: other, size, proof })).not.toEqual(tree.root());
      },
    ),
    { numRuns: 60 },
  );
});

const rootOfTile = (hashes: Buffer): Buffer => {
  const tree = new GrowingTree();
  for (let at = 0; at < hashes.length; at += 32) tree.append(hashes.subarray(at, at + 32));
  return tree.root();
};

import { expect, test } from 'vitest';
import { ourEvent } from '../../test/engines/authentic-log.ts';
import { LookBack } from './macs-in.ts';

const { metadata: bare } = ourEvent();
const authentic = { ...bare, mac: '0'.repeat(32) };

type Stored = readonly [atMs: number, metadata: Record<string, unknown> | undefined];

/** Looks at a log whose records were stored at these times; each look reads at most three, and returns whether to wait. */
const looks = (...stored: readonly Stored[]) => {
  const records = [...stored];
  const look = new LookBack(3);
  return {
    append: (...more: readonly Stored[]) => void records.push(...more),
    async waitsAt(nowMs: number): Promise<boolean> {
      return look.hasBareSince(nowMs - 1_000, async (countMax, onRecord) => {
        for (const [before, [atMs, metadata]] of [...records.entries()].toReversed().slice(0, countMax)) {
          const commit = BigInt(before + 1);
          const position = { commit, prepare: commit };
          if (!onRecord({ id: '', created: new Date(atMs), metadata: metadata as never, position }, true))
            return;
        }
      });
    },
  };
};

test('an upgrade waits if the records do not reach back far enough', async () => {
  expect(await looks([9_998, authentic], [9_999, authentic], [10_000, authentic]).waitsAt(10_000)).toBe(true);
  expect(await looks([8_000, authentic], [9_999, authentic], [10_000, authentic]).waitsAt(10_000)).toBe(
    false,
  );
});

test('an upgrade does not wait if there are no more records', async () => {
  expect(await looks([9_999, authentic], [10_000, authentic]).waitsAt(10_000)).toBe(false);
  expect(await looks().waitsAt(10_000)).toBe(false);
});

test('an upgrade waits for a late event of ours without a MAC, and for no other record', async () => {
  expect(await looks([9_999, bare], [10_000, authentic]).waitsAt(10_000)).toBe(true);
  expect(await looks([8_000, bare], [10_000, authentic]).waitsAt(10_000)).toBe(false);
  expect(await looks([9_999, undefined], [10_000, { n: 1 }]).waitsAt(10_000)).toBe(false);
});

test('the upgrade of a log ends that always has more records than a look reads', async () => {
  const log = looks([0, authentic], [0, authentic], [0, authentic], [0, authentic]);
  const waits: boolean[] = [];
  for (let nowMs = 0; nowMs <= 1_500; nowMs += 250) {
    waits.push(await log.waitsAt(nowMs));
    log.append([nowMs + 1, authentic], [nowMs + 2, authentic]);
  }
  expect(waits).toEqual([true, true, true, true, true, false, false]);
});

test('it ends not before the last event without a MAC is old, nor if a look misses records', async () => {
  const log = looks([0, authentic]);
  expect(await log.waitsAt(2_000)).toBe(false);
  log.append([2_100, bare], [2_200, authentic]);
  expect(await log.waitsAt(2_300)).toBe(true);
  expect(await log.waitsAt(3_000)).toBe(true);
  expect(await log.waitsAt(3_200)).toBe(false);
  log.append(...Array.from({ length: 4 }, (): Stored => [3_300, authentic]));
  expect(await log.waitsAt(3_400)).toBe(true);
  expect(await log.waitsAt(4_400)).toBe(false);
});

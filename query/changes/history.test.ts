import { expect, test } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import type { ChangePage } from '#shared/change-stream/change-stream.ts';
import { createHistory } from './history.ts';

const at = (position: number) => position as Position;

/** A log of pages of ten positions each, which counts how often a page is read. */
const pastOf = (end: number) => {
  const reads: number[] = [];
  async function* follow(after: Position): AsyncGenerator<ChangePage> {
    for (let last: number = after; last < end; ) {
      reads.push(last);
      last += 10;
      yield { changes: [], upTo: at(last) };
    }
  }
  return { reads, follow };
};

const walk = async (history: ReturnType<typeof createHistory>, after: number): Promise<readonly number[]> => {
  const seen: number[] = [];
  for await (const { upTo } of history.follow(at(after), new AbortController().signal)) seen.push(upTo);
  return seen;
};

test('readers that resume at the same position share pages that are read once', async () => {
  const past = pastOf(40);
  const history = createHistory(past);
  const [first, second] = [await walk(history, 0), await walk(history, 0)];
  expect(first).toEqual([10, 20, 30, 40]);
  expect(second).toEqual(first);
  expect(past.reads).toEqual([0, 10, 20, 30]);
});

test('readers at other positions read for themselves, and at the same time if the page is not cached', async () => {
  const past = pastOf(40);
  const history = createHistory(past);
  const walks = await Promise.all([walk(history, 0), walk(history, 0), walk(history, 5), walk(history, 20)]);
  expect(walks).toEqual([
    [10, 20, 30, 40],
    [10, 20, 30, 40],
    [15, 25, 35, 45],
    [30, 40],
  ]);
});

test('a page that does not advance is not cached', async () => {
  let reads = 0;
  const history = createHistory({
    async *follow(after) {
      reads += 1;
      yield { changes: [], upTo: after };
      yield { changes: [], upTo: at(after + 1) };
    },
  });
  expect(await walk(history, 7)).toEqual([7, 8]);
  expect(reads).toBe(1);
});

import { expect, test } from 'vitest';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { repeat, untilDisposed } from './repeat.ts';

const start = ({ waitsFirst = false, fails = (_time: number): boolean => false } = {}) => {
  const clock = createTestClock();
  const times: number[] = [];
  const failures: number[] = [];
  const repeating = repeat({
    async work() {
      times.push(clock.elapsedMs());
      if (fails(times.length)) throw new Error('no');
    },
    wait: (signal) => clock.sleep(10, signal),
    waitsFirst,
    onFailure: (_error, inRow) => failures.push(inRow),
  });
  return { clock, times, failures, repeating };
};

test('works at once, and again after each wait', async () => {
  const { clock, times, repeating } = start();
  await clock.advance(20);
  expect(times.map((time) => time - (times[0] ?? 0))).toEqual([0, 10, 20]);
  await repeating[Symbol.asyncDispose]();
  expect(clock.pending()).toEqual([]);
  expect(times).toHaveLength(3);
});

test('waits first if it is told to', async () => {
  const { clock, times, repeating } = start({ waitsFirst: true });
  expect(times).toEqual([]);
  await clock.advance(10);
  expect(times).toHaveLength(1);
  await repeating[Symbol.asyncDispose]();
});

test('reports each failure with the number of those in a row, and goes on', async () => {
  const { clock, failures, repeating } = start({ fails: (time) => time !== 3 });
  await clock.advance(40);
  expect(failures).toEqual([1, 2, 1, 2]);
  await repeating[Symbol.asyncDispose]();
});

test('disposal waits for the work under way, and reports nothing of it', async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  const failures: unknown[] = [];
  const repeating = repeat({
    work: () => promise,
    wait: async () => {},
    onFailure: (error) => failures.push(error),
  });
  const disposed = repeating[Symbol.asyncDispose]();
  reject(new Error('cut off'));
  await disposed;
  expect(failures).toEqual([]);
});

test('a run is told to stop, and disposal waits for its end', async () => {
  const seen: string[] = [];
  const running = untilDisposed(async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    seen.push('ended');
  });
  await running[Symbol.asyncDispose]();
  expect(seen).toEqual(['ended']);
});

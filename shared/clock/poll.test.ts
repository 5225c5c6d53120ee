import { expect, test } from 'vitest';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { poll } from './poll.ts';

const start = (isSo: (look: number) => boolean, withinMs: number, signal?: AbortSignal) => {
  const clock = createTestClock();
  let looks = 0;
  const found = poll({ clock, everyMs: 10, withinMs, signal }, async () => {
    looks += 1;
    return isSo(looks);
  });
  return { clock, found, looks: () => looks };
};

test('looks until it is so', async () => {
  const { clock, found, looks } = start((look) => look === 3, 1_000);
  await clock.advance(20);
  expect(await found).toBe(true);
  expect(looks()).toBe(3);
});

test('ends with the time, after a last look', async () => {
  const { clock, found, looks } = start(() => false, 25);
  await clock.advance(30);
  expect(await found).toBe(false);
  expect(looks()).toBe(4);
});

test('looks once without any time', async () => {
  expect(await start(() => true, 0).found).toBe(true);
  expect(await start(() => false, -1).found).toBe(false);
});

test('ends when the signal aborts', async () => {
  const stopping = new AbortController();
  const { clock, found } = start(() => false, 1_000, stopping.signal);
  await clock.advance(10);
  stopping.abort();
  expect(await found).toBe(false);
  expect(clock.pending()).toEqual([]);
});

import { expect, test } from 'vitest';
import { afterNews, CALM, PAUSES_MS } from './pacing.ts';

/** The pauses of a page whose every `nth` request finds a change. A calm page gets an event at once. */
const pausesIfEvery = (nth: number): readonly number[] => {
  let step = afterNews(CALM);
  return Array.from({ length: 100 }, (_, index) => {
    const pauseMs = PAUSES_MS[step] ?? 0;
    step += 1;
    if ((index + 1) % nth === 0 || step === CALM) step = afterNews(step);
    return pauseMs;
  });
};

test('a series without a change has growing pauses', () => {
  expect(pausesIfEvery(1_000).slice(0, 5)).toEqual([2_000, 4_000, 8_000, 16_000, 2_000]);
});

test('a change during a series never shortens the pause below five seconds', () => {
  const [, , ...others] = pausesIfEvery(1);
  expect(Math.min(...others)).toBeGreaterThanOrEqual(5_000);
});

test.each([1, 2, 3, 4, 5, 6])(
  'a change in every %i. request leaves more than five seconds on average',
  (nth) => {
    const pauses = pausesIfEvery(nth);
    expect(pauses.reduce((sum, pauseMs) => sum + pauseMs, 0) / pauses.length).toBeGreaterThan(5_000);
  },
);

test('a change late in a series prolongs it', () => {
  expect(afterNews(CALM - 1)).toBeLessThan(CALM - 1);
});

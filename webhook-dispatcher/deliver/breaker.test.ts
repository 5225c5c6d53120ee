import fc from 'fast-check';
import { expect, test } from 'vitest';
import { admits, afterAttempt, restored } from './breaker.ts';
import type { Breaker } from './delivery.ts';

const FRESH = restored({ openings: 0, openUntilMs: null });

/** Records results at one time; `x` is a failure. */
const after = (breaker: Breaker, results: string, atMs = 0): Breaker =>
  [...results].reduce((before, result) => afterAttempt(before, { isFailure: result === 'x', atMs }), breaker);

test.each([
  ['xxxxxxxxx', 'all'],
  ['xxxxxxxxxx', 'none'],
  ['...xxxxxxx', 'none'],
  ['....xxxxxxxxx', 'all'],
  ['....xxxxxxxxxx', 'none'],
  ['.x.x.x.x.x.x.x.x.x.x', 'all'],
  ['....................', 'all'],
])('after %s at once it admits %s', (results, admitted) => {
  expect(admits(after(FRESH, results), 1)).toBe(admitted);
});

test('results older than half a minute do not count', () => {
  expect(admits(after(after(FRESH, 'xxxxxxxxx', 0), 'x', 29_999), 29_999)).toBe('none');
  expect(admits(after(after(FRESH, 'xxxxxxxxx', 0), 'x', 30_000), 30_000)).toBe('all');
});

test('then it admits one attempt, which decides whether it closes', () => {
  const open = after(FRESH, 'xxxxxxxxxx', 0);
  expect([admits(open, 29_999), admits(open, 30_000)]).toEqual(['none', 'one']);
  expect(afterAttempt(open, { isFailure: false, atMs: 30_100 })).toEqual(FRESH);
  const again = afterAttempt(open, { isFailure: true, atMs: 30_100 });
  expect([admits(again, 30_100), admits(again, 90_099), admits(again, 90_100)]).toEqual([
    'none',
    'none',
    'one',
  ]);
});

test('it stays open twice as long each time in a row, and ten minutes at most', () => {
  let breaker = after(FRESH, 'xxxxxxxxxx', 0);
  const spans: number[] = [];
  for (let atMs = 0; spans.length < 7; ) {
    spans.push((breaker.openUntilMs ?? 0) - atMs);
    atMs = breaker.openUntilMs ?? 0;
    breaker = afterAttempt(breaker, { isFailure: true, atMs });
  }
  expect(spans.map((span) => span / 1_000)).toEqual([30, 60, 120, 240, 480, 600, 600]);
});

test('results of attempts from before it opened change nothing', () => {
  const open = after(FRESH, 'xxxxxxxxxx', 0);
  expect(after(open, 'x.x', 10_000)).toBe(open);
});

test('a restored breaker continues where it was', () => {
  const { openings, openUntilMs } = after(FRESH, 'xxxxxxxxxx', 0);
  const taken = restored({ openings, openUntilMs });
  expect([admits(taken, 29_999), admits(taken, 30_000)]).toEqual(['none', 'one']);
  expect(afterAttempt(taken, { isFailure: true, atMs: 30_000 }).openUntilMs).toBe(90_000);
});

test('it keeps a bounded number of results', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 200, maxLength: 400 }), (failures) => {
      const breaker = failures.reduce(
        (before, isFailure, index) => afterAttempt(before, { isFailure, atMs: index }),
        FRESH,
      );
      expect(breaker.recent.length).toBeLessThanOrEqual(100);
    }),
  );
});

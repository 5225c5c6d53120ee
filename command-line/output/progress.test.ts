import { expect, test } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import type { Progress } from '#shared/projection/catch-up.ts';
import { duration, progressText, showProgress } from './progress.ts';

const never = new AbortController().signal;

const at = (events: number, position: number, from = 0): Progress => ({
  step: 'events',
  events,
  position: position as Position,
  from: from as Position,
  upTo: 100_000 as Position,
});

test('if positions count events, it shows their number, the total, the rate, and the time left', () => {
  expect(progressText(at(25_000, 25_000), { elapsedMs: 1_000, isDense: true })).toBe(
    '25,000 of 100,000 events, 25,000 a second, 3 s left',
  );
});

test('if positions count bytes, it shows the share of the log', () => {
  expect(progressText(at(60, 75_000, 50_000), { elapsedMs: 2_000, isDense: false })).toBe(
    '60 events, 50 % of the log, 30 a second, 2 s left',
  );
});

test('it handles a start at nothing and a total of nothing', () => {
  expect(progressText(at(0, 0), { elapsedMs: 0, isDense: true })).toBe('0 of 100,000 events, 0 a second');
  expect(progressText(at(1, 100_000, 100_000), { elapsedMs: 0, isDense: false })).toContain(
    '100 % of the log',
  );
  expect(progressText({ step: 'indexes', done: 0, of: 7 }, { elapsedMs: 0, isDense: true })).toBe(
    'index 1 of 7',
  );
});

test.each([
  [59, '59 s'],
  [61, '1 min 1 s'],
  [7_265, '2 h 1 min'],
])('%d seconds are shown as %s', (seconds, told) => {
  expect(duration(seconds)).toBe(told);
});

test('a terminal has one line that is rewritten and removed; elsewhere short work prints nothing', () => {
  const [rewritten, complaints]: [string[], string[]] = [[], []];
  const complain = (line: string) => void complaints.push(line);
  for (const rewrite of [(line: string) => void rewritten.push(line), undefined]) {
    using shown = showProgress({ complain, signal: never, ...(rewrite && { rewrite }) }, 'Rebuilding', true);
    shown.onProgress(at(10, 10));
    shown.onProgress(at(20, 20));
    shown[Symbol.dispose]();
  }
  // The line is removed once: later output is not ours.
  expect(rewritten).toEqual([expect.stringMatching(/^Rebuilding: 10 of 100,000 events/), '']);
  expect(complaints).toEqual([]);
});

test('each index and each check is announced at its start, because it may take long', () => {
  const rewritten: string[] = [];
  using shown = showProgress(
    { complain() {}, signal: never, rewrite: (line) => void rewritten.push(line) },
    'Rebuilding',
    true,
  );
  shown.onProgress(at(10, 10));
  for (const done of [0, 1]) shown.onProgress({ step: 'indexes', done, of: 2 });
  shown.onProgress({ step: 'check', what: 'users' });
  expect(rewritten.slice(1)).toEqual([
    'Rebuilding: index 1 of 2',
    'Rebuilding: index 2 of 2',
    'Rebuilding: users',
  ]);
});

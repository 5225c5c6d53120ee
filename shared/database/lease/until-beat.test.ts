import { expect, test } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { nextBeat, untilBeat } from './until-beat.ts';

test.for([
  [0, 1_600],
  [100, 1_500],
  [1_500, 100],
  [3_300, 1_500],
])('all who wait from %i on are due at the same time', ([nowMs = 0, leftMs]) => {
  expect(untilBeat(1_600, nowMs)).toBe(leftMs);
});

test('a timer that fires a little early is not due again for the same beat', () => {
  expect(untilBeat(1_600, 1_599.75)).toBe(1_600.25);
});

test('who waits for a beat resolves with the others, or at once with the signal', async () => {
  const leaving = new AbortController();
  const { signal } = new AbortController();
  const resolved: string[] = [];
  const waiting = [
    nextBeat(60, signal, REAL_TIME).then(() => resolved.push('one')),
    nextBeat(60, signal, REAL_TIME).then(() => resolved.push('other')),
  ];
  const left = nextBeat(60_000, leaving.signal, REAL_TIME).then(() => resolved.push('left'));
  leaving.abort();
  await left;
  await nextBeat(60_000, leaving.signal, REAL_TIME);
  await Promise.race(waiting);
  // Both, because one timer wakes them.
  expect(resolved).toEqual(['left', 'one', 'other']);
});

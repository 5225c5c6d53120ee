import { expect, test } from 'vitest';
import { untilBeat } from './until-beat.ts';

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

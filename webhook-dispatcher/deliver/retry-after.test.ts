import { expect, test } from 'vitest';
import { retryAfterMs } from './schedule.ts';

const NOW = Date.parse('1994-11-06T08:49:07Z');

test.each([
  ['30', 30_000],
  [' 5 ', 5_000],
  ['0', 0],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 30_000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 30_000],
  ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
  ['86401', 86_400_000],
  ['99999999999999999999999', 86_400_000],
  ['Sun, 06 Nov 2094 08:49:37 GMT', 86_400_000],
])('“%s” asks to wait for %d ms', (value, waitMs) => {
  expect(retryAfterMs(value, NOW)).toBe(waitMs);
});

test.each([
  undefined,
  '',
  'soon',
  '-5',
  '1.5',
  '1e3',
  '2026-11-21T00:00:00Z',
  'Sun, 99 Nov 1994 08:49:37 GMT',
])('“%s” asks for nothing', (value) => {
  expect(retryAfterMs(value, NOW)).toBeUndefined();
});

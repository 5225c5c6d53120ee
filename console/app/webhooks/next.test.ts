import { expect, test } from 'vitest';
import { nextOf } from './next.ts';

const nowMs = Date.parse('2026-11-21T15:00:00.000Z');
const [past, soon, later] = [
  '2026-11-21T14:59:59.000Z',
  '2026-11-21T15:00:05.000Z',
  '2026-11-22T00:00:00.000Z',
] as const;

test('the next time is the earliest in the future', () => {
  expect(nextOf([later, null, past, soon, false], nowMs)).toBe(soon);
});

test('if all are in the past, it is the last of them', () => {
  expect(nextOf([past, '2026-11-20T00:00:00.000Z'], nowMs)).toBe(past);
  expect(nextOf([null, undefined, false], nowMs)).toBeUndefined();
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isoText } from './instant.ts';

/** The greatest time of a Date. */
const MS_MAX = 8.64e15;

test('every time is formatted as toISOString does', () => {
  const near = fc.integer({ min: 0, max: 4_102_444_800_000 });
  fc.assert(
    fc.property(fc.oneof(near, fc.maxSafeInteger()), (ms) => {
      const at = new Date(ms % MS_MAX);
      expect(isoText(at)).toBe(at.toISOString());
    }),
  );
  for (const ms of [0, -1, -86_400_000, 86_399_999, 86_400_000, MS_MAX, -MS_MAX]) {
    expect(isoText(new Date(ms))).toBe(new Date(ms).toISOString());
  }
});

test('times of more days than the cache holds are formatted correctly, even when the first come again', () => {
  const days = Array.from({ length: 2_500 }, (_, day) => new Date(day * 86_400_000 + day));
  for (const at of [...days, ...days]) expect(isoText(at)).toBe(at.toISOString());
});

test('text that is no time is refused', () => {
  expect(() => isoText(new Date(Number.NaN))).toThrow(RangeError);
});

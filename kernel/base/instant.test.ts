import fc from 'fast-check';
import { expect, test } from 'vitest';
import { instant, isoText } from './instant.ts';
import { timestampOfField } from './values.ts';

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

test.each([
  ['0001-01-01T05:00:00+05:00', true],
  ['9999-12-31T23:59:59.999Z', true],
  ['0000-12-31T23:00:00-02:00', true],
  ['0000-12-31T23:59:59.999Z', false],
  ['0001-01-01T00:00:00+05:00', false],
  ['9999-12-31T23:59:59-05:00', false],
])(
  '%s is accepted: %s, because PostgreSQL has no year 0, and five digits are no RFC 3339',
  (text, isAccepted) => {
    expect(instant.safeParse(text).success).toBe(isAccepted);
  },
);

test('what is no time is refused for one reason', () => {
  expect(instant.safeParse('yesterday').error?.issues).toHaveLength(1);
});

test.each([
  ['0001-01-01T00:00:00.000Z', true],
  ['0000-12-31T23:59:59.999Z', false],
])('a field accepts %s: %s', (text, isAccepted) => {
  expect(timestampOfField.safeParse(text).success).toBe(isAccepted);
});

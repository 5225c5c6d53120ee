import { describe, expect, test } from 'vitest';
import { keepingOf, keptUntilMs } from './keeping.ts';

const until = (since: string, keep: string): string =>
  new Date(keptUntilMs(since, keepingOf(keep, 'x'))).toISOString();

describe('the time until which something must be kept', () => {
  test.each([
    ['2026-11-30T22:15:00.123Z', '10 years', '2036-11-30T22:15:00.123Z'],
    ['2026-11-30T22:15:00.123Z', '1 day', '2026-12-01T22:15:00.123Z'],
    ['2026-12-31T22:15:00.123Z', '2 months', '2027-03-01T22:15:00.123Z'],
    ['2026-01-31T00:00:00.000Z', '1 month', '2026-03-01T00:00:00.000Z'],
    ['2024-02-29T12:00:00.000Z', '1 year', '2025-03-01T12:00:00.000Z'],
    ['2024-02-29T12:00:00.000Z', '4 years', '2028-02-29T12:00:00.000Z'],
    ['2026-06-15T12:00:00.000Z', '18 months', '2027-12-15T12:00:00.000Z'],
  ])('%s, kept for %s, is free at %s', (since, keep, expected) => {
    expect(until(since, keep)).toBe(expected);
  });

  test.each(['0 years', '-1 year', '1.5 years', 'ten years', '201 years', '10 hours', '', undefined])(
    '%s is refused',
    (keep) => {
      expect(() => keepingOf(keep, 'record: `retain`')).toThrow(
        'use a whole number of days, months or years',
      );
    },
  );
});

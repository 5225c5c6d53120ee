import { expect, test } from 'vitest';
import { periodOf } from './period.ts';

test.each([
  ['2026-01-31T23:59:59.999Z', '2026-01-31', '2026-W05', '2026-01'],
  ['2026-02-01T00:00:00.000Z', '2026-02-01', '2026-W05', '2026-02'],
  ['2026-02-02', '2026-02-02', '2026-W06', '2026-02'],
  // The first days of a year may be in the last week of the year before, and the other way round.
  ['2027-01-03', '2027-01-03', '2026-W53', '2027-01'],
  ['2027-01-04', '2027-01-04', '2027-W01', '2027-01'],
  ['2024-12-30', '2024-12-30', '2025-W01', '2024-12'],
  ['2024-02-29', '2024-02-29', '2024-W09', '2024-02'],
  ['0001-01-01', '0001-01-01', '0001-W01', '0001-01'],
  ['9999-12-31', '9999-12-31', '9999-W52', '9999-12'],
])('%s is in the day %s, the week %s and the month %s', (at, day, week, month) => {
  expect(periodOf('day', at)).toBe(day);
  expect(periodOf('week', at)).toBe(week);
  expect(periodOf('month', at)).toBe(month);
});

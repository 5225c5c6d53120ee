import { expect, test } from 'vitest';
import { lastDayProblem } from './last-day.ts';

const at = '2026-12-01T23:59:59.999Z';

test.each([
  ['2026-12-01', undefined],
  ['2027-12-02', undefined],
  ['2027-12-03', 'The last day of an auditor must be at most a year ahead, so 2027-12-02 at the latest.'],
  ['2026-11-30', 'The last day of an auditor has passed already: name today or a later day.'],
  [null, 'An auditor needs a last day, such as 2027-03-31.'],
  [undefined, 'An auditor needs a last day, such as 2027-03-31.'],
])('the last day %s', (day, problem) => {
  expect(lastDayProblem(day, { at })).toBe(problem);
});

test('a day that has passed ends the access of somebody who is an auditor', () => {
  expect(lastDayProblem('2026-11-30', { at, mayBeOver: true })).toBeUndefined();
  expect(lastDayProblem(null, { at, mayBeOver: true })).toBeDefined();
});

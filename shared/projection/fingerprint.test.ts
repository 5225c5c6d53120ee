import { expect, test } from 'vitest';
import { completedMark, isMadeBy, rowsMark } from './fingerprint.ts';

const SCHEMA = 'tables';
const before = { schema: SCHEMA, rows: { 'note/status': 'open', 'note.made': 'creates' } };
const changed = { schema: SCHEMA, rows: { ...before.rows, 'note/status': 'shut' } };
const grown = { schema: SCHEMA, rows: { ...before.rows, 'note.shut': 'sets' } };
const mark = rowsMark(before, undefined);
const kindOf = (text: string | undefined) => text?.split(' ', 1)[0];

test('rows are of a declaration unless one of the parts that both know differs', () => {
  const isOf = (rows: string | null) =>
    [before, grown, changed].map((each) => isMadeBy(each, { schema: SCHEMA, rows }));
  expect(isOf(mark)).toEqual([true, true, false]);
  expect(isOf(rowsMark(grown, undefined))).toEqual([true, true, false]);
  // An earlier release wrote nothing down.
  expect(isOf(null)).toEqual([true, true, true]);
  expect(isMadeBy(before, { schema: 'others', rows: mark })).toBe(false);
  expect(isMadeBy(before, undefined)).toBe(false);
});

test('rows that are made anew are of the same kind as those in use if they mean the same, so that signed heads go on to be compared', () => {
  const beside = { schema: SCHEMA, rows: mark };
  expect(kindOf(rowsMark(grown, beside))).toBe(kindOf(mark));
  expect(kindOf(rowsMark(changed, beside))).not.toBe(kindOf(mark));
  expect(kindOf(rowsMark(grown, { schema: SCHEMA, rows: null }))).toBe('-');
});

test('a mark is completed by what is new, and knows what another release added', () => {
  expect(completedMark(before, { schema: SCHEMA, rows: mark })).toBeUndefined();
  const completed = completedMark(grown, { schema: SCHEMA, rows: mark });
  expect(kindOf(completed)).toBe(kindOf(mark));
  expect(completedMark(before, { schema: SCHEMA, rows: completed ?? '' })).toBeUndefined();
  expect(
    isMadeBy({ ...grown, rows: { 'note.shut': 'ends' } }, { schema: SCHEMA, rows: completed ?? '' }),
  ).toBe(false);
  expect(kindOf(completedMark(before, { schema: SCHEMA, rows: null }))).toBe('-');
});

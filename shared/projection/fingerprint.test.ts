import { expect, test } from 'vitest';
import { completedMark, isMadeBy, rowsMark } from './fingerprint.ts';

const SCHEMA = 'tables';
const before = { schema: SCHEMA, rows: { 'note/status': 'open', 'note.made': 'creates' } };
const changed = { schema: SCHEMA, rows: { ...before.rows, 'note/status': 'shut' } };
const grown = { schema: SCHEMA, rows: { ...before.rows, 'note.shut': 'sets' } };
const mark = rowsMark(before, undefined);
const kindOf = (text: string | undefined) => text?.split(' ', 1)[0];

test('rows match a declaration unless a part that both know differs', () => {
  const isOf = (rows: string | null) =>
    [before, grown, changed].map((each) => isMadeBy(each, { schema: SCHEMA, rows }));
  expect(isOf(mark)).toEqual([true, true, false]);
  expect(isOf(rowsMark(grown, undefined))).toEqual([true, true, false]);
  // An earlier release recorded nothing.
  expect(isOf(null)).toEqual([true, true, true]);
  expect(isMadeBy(before, { schema: 'others', rows: mark })).toBe(false);
  expect(isMadeBy(before, undefined)).toBe(false);
});

test('rebuilt rows are of the same kind as the live ones if they mean the same, so that signed heads are still compared', () => {
  const beside = { schema: SCHEMA, rows: mark };
  expect(kindOf(rowsMark(grown, beside))).toBe(kindOf(mark));
  expect(kindOf(rowsMark(changed, beside))).not.toBe(kindOf(mark));
  expect(kindOf(rowsMark(grown, { schema: SCHEMA, rows: null }))).toBe('-');
});

test('a mark is completed with additions, and keeps those of another release', () => {
  expect(completedMark(before, { schema: SCHEMA, rows: mark })).toBeUndefined();
  const completed = completedMark(grown, { schema: SCHEMA, rows: mark });
  expect(kindOf(completed)).toBe(kindOf(mark));
  expect(completedMark(before, { schema: SCHEMA, rows: completed ?? '' })).toBeUndefined();
  expect(
    isMadeBy({ ...grown, rows: { 'note.shut': 'ends' } }, { schema: SCHEMA, rows: completed ?? '' }),
  ).toBe(false);
  expect(kindOf(completedMark(before, { schema: SCHEMA, rows: null }))).toBe('-');
});

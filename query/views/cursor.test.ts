import { expect, test } from 'vitest';
import { formatCursor, positionInCursor } from './cursor.ts';

test.each([
  ['numeric', ['12', '-12', '9.5000000000000000', '-0.3333'], ['', 'x', '1.', '.5', '1e9', 'NaN']],
  ['date', ['2026-02-28', '9999-12-31'], ['', 'x', '2026-02-29', '0000-01-01', 'infinity']],
  ['bigint', ['7'], ['7.5', '9'.repeat(19)]],
  ['boolean', ['true'], ['yes']],
  ['timestamptz', ['2026-02-28 10:15:00.123+00'], ['2026-02-31 10:15:00+00', '2026-02-28 25:15:00+00']],
  ['text', ['2026-W05'], ['\u0000']],
])('a cursor holds only a %s that PostgreSQL accepts', (type, valid, invalid) => {
  const order = [{ name: 'value', type }];
  const read = (text: string) => positionInCursor('list', formatCursor('list', [text]), order);
  for (const text of valid) expect(read(text)).toEqual([text]);
  for (const text of invalid) expect(read(text)).toBeUndefined();
});

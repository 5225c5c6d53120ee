import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LogIdentity, Position } from '#shared/brands.ts';
import { formatCursor, parseCursor, UnknownCursor } from './cursor.ts';

const log = '0b9f4e1c-1111-4222-8333-444455556666' as LogIdentity;
const another = '1b9f4e1c-1111-4222-8333-444455556666' as LogIdentity;

test('every position can be read back from its cursor', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (position) => {
      expect(parseCursor(log, formatCursor(log, position as Position))).toBe(position);
    }),
  );
});

test("another log's cursor is refused", () => {
  expect(() => parseCursor(another, formatCursor(log, 7 as Position))).toThrow(/another log/);
});

test.each([
  '',
  '7',
  '0b9f4e1c',
  '0b9f4e1c-',
  '0b9f4e1c--1',
  '0b9f4e1c-zzzzzzzzzzz',
  '0b9f4e1c-7\n',
  ' 0b9f4e1c-7',
  '0b9f4e1c-7.5',
])('what is no cursor is refused: %j', (text) => {
  expect(() => parseCursor(log, text)).toThrow(UnknownCursor);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EventId, LogIdentity, Position } from './brands.ts';
import { formatCursor, parseCursor, parseOwnPoint, UnknownCursor } from './cursor.ts';

const log = '0b9f4e1c-1111-4222-8333-444455556666' as LogIdentity;
const another = '1b9f4e1c-1111-4222-8333-444455556666' as LogIdentity;

test('every position can be read back from its cursor', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (position) => {
      expect(parseCursor(log, formatCursor(log, position as Position))).toBe(position);
    }),
  );
});

test('a cursor that names its event is read with and without it', () => {
  const event = '6f9619ff-8b86-4011-b42d-00c04fc964ff' as EventId;
  const cursor = formatCursor(log, 7 as Position, event);
  expect(cursor).toBe('0b9f4e1c-7-4fc964ff');
  expect(parseCursor(log, cursor)).toBe(7);
  const { isOf } = parseOwnPoint({ identity: log }, cursor);
  expect([isOf(event), isOf('6f9619ff-8b86-4011-b42d-00c04fc964fe' as EventId), isOf(undefined)]).toEqual([
    ...[true, false, false],
  ]);
  expect(parseOwnPoint({ identity: log }, '0b9f4e1c-7').isOf(event)).toBe(true);
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
  '0b9f4e1c-7-',
  '0b9f4e1c-7-4fc964f',
  '0b9f4e1c-7-4fc964ff0',
])('what is no cursor is refused: %j', (text) => {
  expect(() => parseCursor(log, text)).toThrow(UnknownCursor);
});

import { expect, test } from 'vitest';
import { formatItemCursor, parseItemCursor } from './item-cursor.ts';

const IDENTITY = '12345678';
const RANK = { name: 'rank', type: 'text' } as const;
const NUMBER = { name: 'id', type: 'bigint' } as const;
const WORD = { name: 'word', type: 'text' } as const;

test('the cursor of the longest key fits the maximum length of cursors', () => {
  const id = '語'.repeat(60);
  const cursor = formatItemCursor(IDENTITY, { id });
  expect(cursor.length).toBeLessThanOrEqual(400);
  expect(parseItemCursor(IDENTITY, cursor, { order: [WORD] })).toEqual({ id });
});

test('a cursor is valid for a list by rank or by id, and for one list only', () => {
  const ranked = formatItemCursor(IDENTITY, { rank: 'a0', id: 3 });
  expect(parseItemCursor(IDENTITY, ranked, { order: [RANK, NUMBER] })).toEqual({ rank: 'a0', id: 3 });
  const refused = { code: 'unknown_cursor' };
  expect(() => parseItemCursor(IDENTITY, ranked, { order: [NUMBER] })).toThrow(
    expect.objectContaining(refused),
  );
  expect(() => parseItemCursor('87654321', ranked, { order: [RANK, NUMBER] })).toThrow(
    expect.objectContaining(refused),
  );
  expect(() => parseItemCursor(IDENTITY, ranked, { order: [RANK, WORD] })).toThrow(
    expect.objectContaining(refused),
  );
});

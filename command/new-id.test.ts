import { expect, test } from 'vitest';
import { createIdMaker } from './new-id.ts';

const many = (newId: () => number, count: number): readonly number[] =>
  Array.from({ length: count }, () => newId());

test('ids are positive, increasing safe integers', () => {
  const ids = many(createIdMaker(Date.now), 50_000);
  for (const [index, id] of ids.entries()) {
    expect(Number.isSafeInteger(id) && id > (ids[index - 1] ?? 0)).toBe(true);
  }
});

test('ids stay safe until the year 2095', () => {
  const newId = createIdMaker(() => Date.UTC(2095, 0, 1));
  expect(Number.isSafeInteger(newId())).toBe(true);
});

test('ids of a later millisecond are higher, also across processes', () => {
  const earlier = many(
    createIdMaker(() => Date.UTC(2026, 5, 1, 12, 0, 0, 1)),
    1_000,
  );
  const later = createIdMaker(() => Date.UTC(2026, 5, 1, 12, 0, 0, 9))();
  expect(Math.max(...earlier)).toBeLessThan(later);
});

test('a clock that goes back never repeats an id', () => {
  let now = Date.UTC(2026, 5, 1);
  const newId = createIdMaker(() => now);
  const before = many(newId, 10_000);
  now -= 60_000;
  const after = many(newId, 10_000);
  expect(new Set([...before, ...after]).size).toBe(20_000);
});

test('ids of one cell are never those of another, however many are made in a millisecond', () => {
  const now = () => Date.UTC(2026, 5, 1);
  const [one, two] = [createIdMaker(now, 0), createIdMaker(now, 127)];
  const ids = [...many(one, 1_000), ...many(two, 1_000)];
  expect(new Set(ids).size).toBe(2_000);
  expect(new Set(ids.slice(0, 1_000).map((id) => id % 128))).toEqual(new Set([0]));
  expect(new Set(ids.slice(1_000).map((id) => id % 128))).toEqual(new Set([127]));
  for (const [index, id] of ids.slice(1, 1_000).entries()) expect(id).toBeGreaterThan(ids[index] ?? 0);
});

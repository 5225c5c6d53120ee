import { expect, test } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { RecentChanges } from './recent-changes.ts';

const heard = (position: number, previous: number, bytes = 100) => ({
  change: { position } as Change,
  previous: previous as Position,
  bytes,
});

const fill = (
  ...messages: readonly (readonly [position: number, previous: number, bytes?: number])[]
): RecentChanges => {
  const recent = new RecentChanges();
  for (const message of messages) recent.add(heard(...message));
  return recent;
};

const since = (recent: RecentChanges, position: number): readonly number[] | undefined =>
  recent.since(position as Position)?.map((change) => change.position);

test('received changes are available from the position they follow', () => {
  const recent = fill([12, 10], [15, 12], [16, 15]);
  expect(since(recent, 10)).toEqual([12, 15, 16]);
  expect(since(recent, 13)).toEqual([15, 16]);
  expect(since(recent, 16)).toEqual([]);
  expect(since(recent, 9)).toBeUndefined();
  expect(since(new RecentChanges(), 9)).toBeUndefined();
});

test('repetitions and late messages of a superseded publisher change nothing', () => {
  const recent = fill([1, 0], [2, 1], [3, 2], [2, 1], [3, 2], [4, 3], [1, 0], [4, 1], [5, 4]);
  expect(since(recent, 0)).toEqual([1, 2, 3, 4, 5]);
});

test('a change that follows a missing one starts over', () => {
  const recent = fill([1, 0], [2, 1], [7, 5], [8, 7]);
  expect(since(recent, 2)).toBeUndefined();
  expect(since(recent, 5)).toEqual([7, 8]);
});

test('a publisher that begins in the middle states a later predecessor, and that leaves no gap', () => {
  expect(since(fill([1, 0], [2, 1], [6, 2]), 0)).toEqual([1, 2, 6]);
  expect(since(fill([1, 0], [2, 1], [6, 5]), 0)).toBeUndefined();
});

test('it knows when a position was received', () => {
  const recent = new RecentChanges();
  recent.add(heard(5, 3), 1_000);
  recent.add(heard(9, 5), 2_000);
  const at = (position: number) => recent.heardAtMs(position as Position);
  expect([at(1), at(5), at(6), at(9), at(10)]).toEqual([1_000, 1_000, 2_000, 2_000, undefined]);
});

test('the oldest are dropped if there are too many, by number and by size', () => {
  const many = new RecentChanges();
  for (let position = 1; position <= 10_500; position += 1) many.add(heard(position, position - 1));
  expect(since(many, 499)).toBeUndefined();
  expect(since(many, 500)?.slice(0, 2)).toEqual([501, 502]);
  const large = new RecentChanges();
  for (let position = 1; position <= 20; position += 1) large.add(heard(position, position - 1, 1_048_576));
  expect(since(large, 11)).toBeUndefined();
  expect(since(large, 12)).toHaveLength(8);
});

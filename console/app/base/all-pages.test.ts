import { expect, test } from 'vitest';
import { readAll } from './all-pages.ts';

/** A list of `count` items, with two in each page. */
const listOf = (count: number) => ({
  get: async (path: string) => {
    const first = Number(path);
    const body = [first, first + 1].filter((item) => item < count);
    return { body, next: first + 2 < count ? String(first + 2) : undefined } as never;
  },
});

test('an action on a whole list reads all of its pages', async () => {
  expect(await readAll(listOf(5), '0')).toEqual([0, 1, 2, 3, 4]);
  expect(await readAll(listOf(0), '0')).toEqual([]);
});

test('a list that has no end is refused as a whole', async () => {
  await expect(readAll(listOf(1_000), '0')).rejects.toThrow('There are more than 200 items.');
});

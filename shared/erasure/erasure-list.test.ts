import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EventId, UserId } from '#kernel/base/brands.ts';
import { callWithLittleRoom } from '../../test/engines/little-room.ts';
import { type Erasure, openErasureList } from './erasure-list.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'annals-erasures-'));
});
afterEach(() => rm(folder, { recursive: true }));

const erasure = (userId: number): Erasure => ({
  userId: userId as UserId,
  at: '2026-01-02T03:04:05.678Z',
  event: '00000000-0000-4000-8000-000000000001' as EventId,
});

test('is empty before there is a file, and creates it with its folder', async () => {
  const list = openErasureList(join(folder, 'audit'));
  expect(await list.read()).toEqual([]);
  await list.note([erasure(7)]);
  expect(await list.read()).toEqual([erasure(7)]);
  expect(await readFile(list.path, 'utf8')).toBe(`${JSON.stringify(erasure(7))}\n`);
});

test('contains each person once, however often and by how many processes they are noted', async () => {
  const lists = [openErasureList(folder), openErasureList(folder)];
  await Promise.all(Array.from({ length: 50 }, (_, n) => lists[n % 2]?.note([erasure(n + 1), erasure(99)])));
  for (const list of lists) await list.note([erasure(99), erasure(1)]);
  const read = await openErasureList(folder).read();
  expect(read.map(({ userId }) => userId).toSorted((one, other) => one - other)).toEqual(
    [...Array(50).keys()].map((n) => n + 1).concat(99),
  );
});

test('a line in which a process died is skipped, and spoils no later line', async () => {
  const list = openErasureList(folder);
  await list.note([erasure(1)]);
  await appendFile(list.path, JSON.stringify(erasure(2)).slice(0, 20));
  await openErasureList(folder).note([erasure(3)]);
  expect((await list.read()).map(({ userId }) => userId)).toEqual([1, 3]);
});

test('a missing line end does not spoil the line of another process', async () => {
  const list = openErasureList(folder);
  await writeFile(list.path, JSON.stringify(erasure(1)));
  await list.note([erasure(2)]);
  expect((await list.read()).map(({ userId }) => userId)).toEqual([1, 2]);
});

test('an unreadable list is not an empty one', async () => {
  const list = openErasureList(folder);
  await mkdir(list.path);
  await expect(list.read()).rejects.toThrow('without it, erased data could come back');
});

test('a person whose line is only partly on the disk is not on it', async () => {
  const many = Array.from({ length: 1_000 }, (_, n) => erasure(n + 1));
  const call = `({ openErasureList }) => openErasureList(${JSON.stringify(folder)}).note(${JSON.stringify(many)})`;
  expect(await callWithLittleRoom(new URL('./erasure-list.ts', import.meta.url), call)).toBe('EFBIG');
});

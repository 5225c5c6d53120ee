import { randomUUID } from 'node:crypto';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../test/engines/folder-fixture.ts';
import { removeLeftovers } from './leftovers.ts';

const NOW_MS = Date.parse('2026-11-30T12:00:00Z');
const [OLD, YOUNG] = [61, 59].map((minutes) => new Date(NOW_MS - minutes * 60_000)) as [Date, Date];

test('what a killed process has left is removed, and nothing that another one writes', async ({ folder }) => {
  const left = `checkpoint.${randomUUID()}`;
  const kept = ['checkpoint', `checkpoint.${randomUUID()}`, `other.${randomUUID()}`, 'checkpoint.old'];
  for (const name of [left, ...kept]) {
    await writeFile(join(folder, name), '');
    await utimes(join(folder, name), OLD, name === kept[1] ? YOUNG : OLD);
  }
  await removeLeftovers(join(folder, 'checkpoint'), NOW_MS);
  expect((await readdir(folder)).toSorted()).toEqual(kept.toSorted());
});

test('without a folder, and with something else by such a name, nothing happens', async ({ folder }) => {
  await removeLeftovers(join(folder, 'none', 'checkpoint'), NOW_MS);
  const name = `folder.${randomUUID()}`;
  await mkdir(join(folder, name));
  await utimes(join(folder, name), OLD, OLD);
  await removeLeftovers(join(folder, 'folder'), NOW_MS);
  expect(await readdir(folder)).toContain(name);
});

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { listMigrations, MIGRATIONS_ROOT } from './usable.ts';

test('each migration counts once, also where the package was built', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'annals-migrations-'));
  await using _folder = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
  const file = 'shared/notes/0001-notes.sql';
  for (const path of [file, join('dist/package', file)]) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), 'create table note ();');
  }
  const below = relative(MIGRATIONS_ROOT, folder);
  expect(await listMigrations(below)).toEqual([join(below, file)]);
});

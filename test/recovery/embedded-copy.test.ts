import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmbeddedPostgres } from '#adapters/embedded-postgres/embedded.ts';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { runBlock } from './page.ts';

const settings = { fsync: 'off' };

/** Runs the server of a folder for one statement. */
const inFolder = async (dataDir: string, statement: string): Promise<readonly unknown[]> => {
  await using server = await startEmbeddedPostgres({ dataDir, settings });
  return await inDatabase(server.url, async (client) => (await client.query(statement)).rows);
};

test('a copy of a data folder has the data, and is a database of its own beside the original', async () => {
  await using original = await temporaryDataDir();
  await using backup = await temporaryDataDir();
  await inFolder(original.path, 'create table kept (at text)');
  await inFolder(original.path, `insert into kept values ('before the copy')`);
  await runBlock('embedded', { DATA_DIR: original.path, BACKUP: backup.path });
  const copy = join(backup.path, 'data');
  await inFolder(copy, `insert into kept values ('in the copy')`);
  expect(await inFolder(original.path, 'select at from kept')).toEqual([{ at: 'before the copy' }]);
  expect(await inFolder(copy, 'select at from kept')).toEqual([
    { at: 'before the copy' },
    { at: 'in the copy' },
  ]);
});

test('a copy without its database is refused, instead of opening that of the original', async () => {
  await using original = await temporaryDataDir();
  await using backup = await temporaryDataDir();
  await inFolder(original.path, 'create table kept (at text)');
  await runBlock('embedded', { DATA_DIR: original.path, BACKUP: backup.path });
  const copy = join(backup.path, 'data');
  for (const name of await readdir(copy))
    if (name.startsWith('postgres-')) await rm(join(copy, name), { recursive: true });
  await expect(inFolder(copy, 'select')).rejects.toThrow('missing or damaged');
});

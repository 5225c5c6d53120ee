import { expect, test } from 'vitest';
import { createDatabase } from '../../test/engines/database.ts';
import { until } from '../../testing/until.ts';
import { demandWritable } from './demand-writable.ts';
import { openPool } from './pool.ts';

const open = (url: string) => openPool({ url, applicationName: 'test', connectionsMax: 1 });

test('free space is tested with one file, and not in every check', async () => {
  await using database = await createDatabase();
  await using pool = open(database.url);
  for (let times = 0; times < 5; times += 1) await demandWritable(pool, 'database');
  const filesOf = async () => {
    await pool.query('select pg_stat_force_next_flush()');
    return (
      await pool.query<{ files: number }>(
        'select temp_files as files from pg_stat_database where datname = current_database()',
      )
    ).rows[0]?.files;
  };
  expect(await until(filesOf, (files) => files !== 0)).toBe(1);
});

test('a limit on temporary files does not mean a full disk', async () => {
  await using database = await createDatabase({ settings: { temp_file_limit: `'1kB'` } });
  await using pool = open(database.url);
  await demandWritable(pool, 'database');
});

import { expect, test } from 'vitest';
import { openPool } from '#shared/database/pool.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { RESERVED } from '../assembly/demand-names.ts';

test('every word that the server reserves is refused as a name', async () => {
  await using database = await createDatabase();
  await using pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 1 });
  const { rows } = await pool.query<{ word: string }>(
    `select word from pg_get_keywords() where catcode in ('R', 'T')`,
  );
  expect(rows.map(({ word }) => word).filter((word) => !RESERVED.has(word))).toEqual([]);
});

import { expect, test } from 'vitest';
import type { UserId, Version } from '#shared/brands.ts';
import { migrate } from '#shared/database/migrate.ts';
import { openPool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { writePerson } from './person-table.ts';

test('a new person whom several write at once is there once, and nobody is refused', async () => {
  await using database = await createDatabase();
  await using pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 8 });
  await migrate(pool, 'auth-accounts', new URL('./migrations/', import.meta.url));
  const count = 500;
  for (let userId = 1; userId <= count; userId += 1) {
    const person = { userId: userId as UserId, version: 1 as Version, emailHash: `hash ${userId}`, role: 'reader' } as const;
    await Promise.all(Array.from({ length: 4 }, () => inTransaction(pool, (connection) => writePerson(connection, person))));
  }
  const { rows } = await pool.query('select count(distinct email_hash)::int as hashes, count(*)::int as persons from auth.person');
  expect(rows).toEqual([{ hashes: count, persons: count }]);
});

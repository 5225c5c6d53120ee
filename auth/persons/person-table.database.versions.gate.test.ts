import { expect, test } from 'vitest';
import type { UserId, Version } from '#kernel/base/brands.ts';
import { migrate } from '#shared/database/migrate.ts';
import { openPool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { confirm, isConfirmed } from '../accounts/confirmed.ts';
import { writePerson } from './person-table.ts';

test('concurrent writes of a new person make one row, and none fails', async () => {
  await using database = await createDatabase();
  await using pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 8 });
  await migrate(pool, 'auth-accounts', new URL('./migrations/', import.meta.url));
  const count = 500;
  for (let userId = 1; userId <= count; userId += 1) {
    const person = {
      userId: userId as UserId,
      version: 1 as Version,
      emailHash: `hash ${userId}`,
      leastRole: 'reader',
    } as const;
    await Promise.all(
      Array.from({ length: 4 }, () => inTransaction(pool, (connection) => writePerson(connection, person))),
    );
  }
  const { rows } = await pool.query(
    'select count(distinct email_hash)::int as hashes, count(*)::int as persons from auth.person',
  );
  expect(rows).toEqual([{ hashes: count, persons: count }]);
});

test('a link sent to one address does not confirm a later address of the account', async () => {
  await using database = await createDatabase();
  await using pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 2 });
  await migrate(pool, 'auth-accounts', new URL('./migrations/', import.meta.url));
  const userId = 1 as UserId;
  const write = (version: number, emailHash: string) =>
    inTransaction(pool, (connection) =>
      writePerson(connection, { userId, version: version as Version, emailHash, leastRole: 'reader' }),
    );
  await write(1, 'first');
  await write(2, 'second');
  await confirm(pool, { userId, emailHash: 'first' });
  expect(await isConfirmed(pool, userId)).toBe(false);
  await confirm(pool, { userId, emailHash: 'second' });
  await write(2, 'second');
  expect(await isConfirmed(pool, userId)).toBe(true);
  await write(3, 'first');
  expect(await isConfirmed(pool, userId)).toBe(false);
});

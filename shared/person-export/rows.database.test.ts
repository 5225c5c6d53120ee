import { test as base, expect } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import { openPool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { createReadModel } from '#shared/projection/schema.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { createMigratedDatabase } from '../../test/engines/migrated-database.ts';
import { care } from '../../test/toy/care.ts';
import { rowSections } from './rows.ts';

const [ADA, FLORENCE, MARY] = [101, 102, 103] as readonly number[] as readonly UserId[] as readonly [
  UserId,
  UserId,
  UserId,
];

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('pool', { scope: 'file' }, async ({}, { onCleanup }) => {
    const database = await createMigratedDatabase();
    const pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 2 });
    onCleanup(async () => {
      await pool[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    });
    await createReadModel(pool, tablesOf(care), LIVE_SCHEMA);
    const insert = (table: string, row: Readonly<Record<string, unknown>>) => {
      const all = { version: 1, created_at: new Date(), updated_at: new Date(), ...row };
      const marks = Object.keys(all).map((_, index) => `$${index + 1}`);
      return pool.query(
        `insert into ${LIVE_SCHEMA}.${table} (${Object.keys(all).join(', ')}) values (${marks.join(', ')})`,
        Object.values(all),
      );
    };
    await insert('letters', { id: 1, sender_id: FLORENCE, about_id: ADA, text: 'Of Ada', seal: 'hash' });
    await insert('letters', { id: 2, sender_id: ADA, about_id: MARY, text: 'Of Mary', seal: 'hash' });
    return pool;
  });

const exportOf = async (pool: ReturnType<typeof openPool>, userId: UserId) =>
  Object.fromEntries(
    await Promise.all(
      rowSections({ domain: care, pool }, userId).map(
        async ({ name, records }) => [name, await Array.fromAsync(records)] as const,
      ),
    ),
  );

test('a row belongs to the person of its personal fields, and its author gets its number alone', async ({
  pool,
}) => {
  const ofAda = await exportOf(pool, ADA);
  expect(ofAda.letters).toMatchObject([{ id: 1, text: 'Of Ada', senderId: FLORENCE }]);
  expect(ofAda['letters-naming']).toEqual([{ id: 2, namedAs: ['senderId'] }]);
  const ofFlorence = await exportOf(pool, FLORENCE);
  expect(ofFlorence.letters).toEqual([]);
  expect(ofFlorence['letters-naming']).toEqual([{ id: 1, namedAs: ['senderId'] }]);
  expect(JSON.stringify([ofAda, ofFlorence])).not.toContain('hash');
});

test('each table with personal data has a section, of items too', async ({ pool }) => {
  const names = new Set(rowSections({ domain: care, pool }, ADA).map(({ name }) => name));
  const personal = tablesOf(care).ofStreams.filter(({ person }) => person !== null);
  expect(personal.length).toBeGreaterThan(5);
  expect(personal.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([]);
});

test('more rows than one part are all read, and a reader who stops frees the connection', async ({
  pool,
}) => {
  await pool.query(
    `insert into ${LIVE_SCHEMA}.letters (id, sender_id, about_id, text, version, created_at, updated_at)
     select 1000 + n, $1, $2, 'Letter ' || n, 1, now(), now() from generate_series(1, 1200) n`,
    [FLORENCE, MARY],
  );
  const letters = rowSections({ domain: care, pool }, MARY).find(({ name }) => name === 'letters')?.records;
  let count = 0;
  for await (const _letter of letters ?? []) count += 1;
  expect(count).toBe(1_201);
  for (let times = 0; times < 4; times += 1)
    for await (const _letter of rowSections({ domain: care, pool }, MARY).find(
      ({ name }) => name === 'letters',
    )?.records ?? [])
      break;
  expect(pool.idleCount).toBeGreaterThan(0);
});

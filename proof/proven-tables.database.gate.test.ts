import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { test as base, expect } from 'vitest';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { listMigrations } from '#shared/database/usable.ts';
import { SCHEMAS, TABLES } from '#shared/erasure/tables-of-product.ts';
import { createReadModel } from '#shared/projection/schema.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { createMigratedDatabase } from '../test/engines/migrated-database.ts';
import { spendingDomain } from '../test/toy/spending.ts';
import { PROVEN_TABLES, provenOfReadModel } from './proven-tables.ts';

const ROOT = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8');

/** Migrations that the database lacks; those that it has fail, and change nothing. */
const migrateRest = async (pool: Pool) => {
  for (const file of (await listMigrations()).toSorted(byComponent))
    await pool.query(`set search_path = public; ${read(file)}`).catch(() => {});
};

const byComponent = (one: string, other: string) =>
  dirname(one).localeCompare(dirname(other)) || basename(one).localeCompare(basename(other));

const tablesIn = async (pool: Pool): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    `select nspname || '.' || relname as name from pg_class c join pg_namespace n on n.oid = relnamespace
     where relkind in ('r', 'p', 'm') and not relispartition and nspname <> 'information_schema' and nspname !~ '^pg_'`,
  );
  return rows.map(({ name }) => name);
};

const schemaOf = (table: string): string => table.slice(0, table.indexOf('.'));

/** The first column of the table in the section. */
const namedInDocs = (): readonly string[] => {
  const [, section = ''] = read('docs/audit.md').split('### Tables that are not proven');
  const [table = ''] = section.split(/^#/m);
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  return rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
};

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('database', { scope: 'file' }, async ({}, { onCleanup }) => {
    const database = await createMigratedDatabase();
    onCleanup(() => database[Symbol.asyncDispose]());
    return database;
  })
  .extend('pool', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 1 });
    onCleanup(() => pool[Symbol.asyncDispose]());
    await migrateRest(pool);
    return pool;
  });

/** `shared/erasure/places.ts` looks into the tables of the domain by its declaration. */
test('the report of an erasure knows each table', async ({ pool }) => {
  const tables = (await tablesIn(pool)).filter((table) => !Object.hasOwn(SCHEMAS, schemaOf(table)));
  expect(tables.filter((table) => !Object.hasOwn(TABLES, table))).toEqual([]);
  expect(Object.keys(TABLES).filter((table) => !tables.includes(table))).toEqual([]);
});

test('each table of the database is verified, or the documentation says why not', async ({ pool }) => {
  const readModel = tablesOf(spendingDomain);
  await createReadModel(pool, readModel, LIVE_SCHEMA);
  const tables = await tablesIn(pool);
  const created = (await listMigrations()).flatMap((file) =>
    [...read(file).matchAll(/^create (?:unlogged )?table (?:if not exists )?(\S+)/gm)].map(
      ([, name = '']) => name,
    ),
  );
  const inSome = new Set(tables.flatMap((name) => [name, name.slice(name.indexOf('.') + 1)]));
  expect(created.filter((name) => !inSome.has(name))).toEqual([]);
  const proven = [...PROVEN_TABLES, ...provenOfReadModel(readModel).map((name) => `${LIVE_SCHEMA}.${name}`)];
  const named = namedInDocs();
  const isNamed = (table: string) => named.includes(table) || named.includes(`${schemaOf(table)}.*`);
  expect(tables.filter((table) => !proven.includes(table) && !isNamed(table))).toEqual([]);
  // Neither list says anything about a table that is not there, or that the other one has.
  expect(proven.filter((table) => !tables.includes(table) || isNamed(table))).toEqual([]);
  expect(
    named.filter((name) => !tables.some((table) => table === name || `${schemaOf(table)}.*` === name)),
  ).toEqual([]);
});

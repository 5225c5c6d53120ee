import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { StartRefused } from '#kernel/base/start-refused.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { isSilence } from './failures.ts';
import { SILENCE_MS } from './pool.ts';

type Migration = {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
};
type Applied = {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly unusedSince: string | null;
};

/**
 * Spells `annm` in bytes: a migrating process holds the advisory lock of this number, whatever the component.
 */
const MIGRATION_LOCK = 0x616e6e6d;
/** The timeout of one migration, and of another process that waits for it. */
const MIGRATION_TIMEOUT_MS = 600_000;

/** The migrations of a component do not match those that its database has applied. */
export class MigrationMismatch extends StartRefused {
  readonly code = 'migration_mismatch';

  constructor(message: string) {
    super(message);
    this.name = 'MigrationMismatch';
  }
}

/**
 * Updates the tables of one component: applies each `0001-name.sql` of its folder once, in a transaction of
 * its own, under a lock. Other processes wait and then find it applied.
 */
export const migrate = async (pool: pg.Pool, component: string, folder: URL): Promise<void> => {
  const migrations = await readMigrations(folder);
  if (pending(component, migrations, await readApplied(pool, component)).length === 0) return;
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await inLockedTransaction(client, () => client.query(CREATE_MIGRATIONS));
    for (const migration of migrations) {
      await inLockedTransaction(client, async () => {
        const todo = pending(component, migrations, await readApplied(client, component));
        if (todo.includes(migration)) await apply(client, component, migration);
      });
    }
  } catch (error) {
    if (isSilence(error)) broken = error;
    throw error;
  } finally {
    client.release(broken);
  }
};

const FILE_NAME = /^(\d{4})-([a-z0-9-]+)\.sql$/;

const readMigrations = async (folder: URL): Promise<readonly Migration[]> => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(files.map((file, index) => readMigration(folder, file, index + 1)));
};

const readMigration = async (folder: URL, file: string, expectedNumber: number): Promise<Migration> => {
  const [, digits, name] = FILE_NAME.exec(file) ?? [];
  if (name === undefined || Number(digits) !== expectedNumber) {
    const expected = `${String(expectedNumber).padStart(4, '0')}-<name>.sql`;
    throw new MigrationMismatch(
      `${fileURLToPath(new URL(file, folder))} must be named ${expected}: migrations are numbered without gaps.`,
    );
  }
  const sql = await readFile(new URL(file, folder), 'utf8');
  return { number: expectedNumber, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
};

const pending = (
  component: string,
  migrations: readonly Migration[],
  applied: readonly Applied[],
): readonly Migration[] => {
  const byNumber = new Map(migrations.map((migration) => [migration.number, migration]));
  for (const { number, name, checksum, unusedSince } of applied) {
    const title = `${component} ${String(number).padStart(4, '0')}-${name}`;
    const migration = byNumber.get(number);
    if (migration === undefined) {
      // Additions of a newer release do not matter here.
      if (unusedSince === null || !isOlder(packageJson.version, unusedSince)) continue;
      throw new MigrationMismatch(
        `The database has migration ${title}, which removes tables or columns that Annals ${packageJson.version} needs: start ${unusedSince} or a newer one.`,
      );
    }
    if (migration.checksum !== checksum) {
      throw new MigrationMismatch(
        `Migration ${title} was changed after it was applied: restore the file, and put the change into a new migration.`,
      );
    }
  }
  const done = new Set(applied.map(({ number }) => number));
  return migrations.filter(({ number }) => !done.has(number));
};

/**
 * The release since which the objects that a migration removes are unused, as the migration states it.
 * Without that line it removes nothing; a test checks that.
 */
export const unusedSinceOf = (sql: string): string | null =>
  /^-- Unused since (\d+\.\d+\.\d+)\b/m.exec(sql)?.[1] ?? null;

export const isOlder = (version: string, than: string): boolean =>
  version.localeCompare(than, 'en', { numeric: true }) < 0;

export const CREATE_MIGRATIONS = `
  create table if not exists public.annals_migration (
    component  text        not null,
    number     integer     not null,
    name       text        not null,
    checksum   text        not null,
    applied_at timestamptz not null default now(),
    primary key (component, number)
  );
  alter table public.annals_migration add column if not exists unused_since text`;

type Queryable = Pick<pg.ClientBase, 'query'>;

const readApplied = async (database: Queryable, component: string): Promise<readonly Applied[]> => {
  const table = await database.query<{ found: boolean }>(
    `select to_regclass('public.annals_migration') is not null as found`,
  );
  if (table.rows[0]?.found !== true) return [];
  const applied = await database.query<Applied>(
    // The column is missing if an earlier release has created the table.
    `select number, name, checksum, to_jsonb(annals_migration)->>'unused_since' as "unusedSince"
     from public.annals_migration where component in ($1, $2) order by number`,
    [component, additionsOf(component)],
  );
  return applied.rows;
};

const apply = async (
  client: Queryable,
  component: string,
  { number, name, sql, checksum }: Migration,
): Promise<void> => {
  await client.query(patient(sql));
  const unusedSince = unusedSinceOf(sql);
  const isAddition = unusedSince === null && number > (LAST_OF_FIRST_RELEASE[component] ?? 1);
  await client.query(
    'insert into public.annals_migration (component, number, name, checksum, unused_since) values ($1, $2, $3, $4, $5)',
    [isAddition ? additionsOf(component) : component, number, name, checksum, unusedSince],
  );
};

/**
 * The first release does not start if a component has a migration unknown to it. Later additions are recorded
 * under another name, so that a process of the first release can still restart during a rolling upgrade.
 */
const additionsOf = (component: string): string => `${component}, added`;

/** The last migration of a component in the first release, unless it is number 1. */
const LAST_OF_FIRST_RELEASE: Readonly<Record<string, number>> = {
  'event-log': 2,
  'auth-storage': 2,
  revocations: 2,
};

/** The driver takes this timeout per query, though its types omit it. */
type Patient = pg.QueryConfig & { readonly query_timeout: number };

const patient = (text: string): Patient => ({ text, query_timeout: MIGRATION_TIMEOUT_MS + SILENCE_MS });

const inLockedTransaction = async (client: Queryable, work: () => Promise<unknown>): Promise<void> => {
  await client.query('begin');
  try {
    // A migration without a schema name means this one, whatever the server’s search path is.
    await client.query(
      `set local statement_timeout = ${MIGRATION_TIMEOUT_MS}; set local search_path = public`,
    );
    await client.query(patient(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`));
    await work();
    await client.query('commit');
  } catch (error) {
    if (!isSilence(error)) await client.query('rollback').catch(() => {});
    throw error;
  }
};

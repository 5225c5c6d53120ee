import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CREATE_MIGRATIONS } from '../migrate.ts';
import type { Connection, Pool } from '../pool.ts';
import { inTransactionUndone } from '../transaction.ts';
import { listMigrations, MIGRATIONS_ROOT, readOwnNames } from '../usable.ts';
import { type Catalog, readCatalog } from './read-catalog.ts';

/** A migration that the database has applied, with its SQL. */
export type Applied = { readonly file: string; readonly sql: string };

/** The migrations of this release that the database has applied, by component and number. */
export const readApplied = async (pool: Pick<Pool, 'query'>): Promise<readonly Applied[]> => {
  const { rows } = await pool.query<{ checksum: string }>('select checksum from public.annals_migration');
  const applied = new Set(rows.map(({ checksum }) => checksum));
  return (await readMigrations()).filter(({ checksum }) => applied.has(checksum));
};

/** The files of migrations do not change while a process runs. */
const readMigrations = (): Promise<readonly (Applied & { readonly checksum: string })[]> => {
  migrations ??= listMigrations().then((files) =>
    Promise.all(
      files.toSorted(byComponent).map(async (file) => {
        const sql = await readFile(join(MIGRATIONS_ROOT, file), 'utf8');
        return { file, sql, checksum: createHash('sha256').update(sql).digest('hex') };
      }),
    ),
  );
  return migrations;
};

let migrations: Promise<readonly (Applied & { readonly checksum: string })[]> | undefined;

const byComponent = (one: string, other: string): number =>
  dirname(one).localeCompare(dirname(other)) || basename(one).localeCompare(basename(other));

/** The schemas of our migrations. */
export const ownSchemas = async (): Promise<readonly string[]> => [
  'public',
  ...(await readOwnNames()).schemas,
];

/** Creates further objects in a schema that does not exist yet. */
export type Further = {
  readonly schema: string;
  create(connection: Connection, schema: string): Promise<void>;
};

const PREFIX = 'annals_expected_';

/**
 * The catalog that these migrations make, by this server: they run again, in schemas of other names, in a
 * transaction that is rolled back. So whatever a version of PostgreSQL makes of them is expected.
 */
export const expectedCatalog = (
  pool: Pool,
  applied: readonly Applied[],
  further: readonly Further[] = [],
): Promise<Catalog> =>
  inTransactionUndone(pool, async (connection) => {
    const schemas = await ownSchemas();
    const inScratch = renaming(schemas);
    await connection.query(`create schema ${PREFIX}public; set local search_path = ${PREFIX}public`);
    await connection.query(inScratch([CREATE_MIGRATIONS, ...applied.map(({ sql }) => sql)].join(';\n')));
    for (const { schema, create } of further) await create(connection, `${PREFIX}${schema}`);
    const made = [...schemas, ...further.map(({ schema }) => schema)];
    return readCatalog(
      connection,
      made.map((schema) => `${PREFIX}${schema}`),
      PREFIX,
    );
  });

/** Names of schemas, before a dot or where they are created, become those beside the real ones. */
const renaming = (schemas: readonly string[]) => {
  const names = schemas.join('|');
  const pattern = new RegExp(
    `\\b(?:(?:${names})(?=\\.)|(?<=create schema (?:if not exists )?)(?:${names})\\b)`,
    'g',
  );
  return (sql: string): string => sql.replaceAll(pattern, (name) => `${PREFIX}${name}`);
};

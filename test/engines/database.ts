import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { countStart } from './starts.ts';

export type TestDatabase = AsyncDisposable & { readonly url: string; readonly name: string };

type Made = {
  readonly template?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** More options of `create database`. */
  readonly options?: string;
};

/** Server settings must not matter, so hardly any test runs with PostgreSQL's defaults. */
const ODD_SETTINGS = {
  search_path: 'elsewhere',
  datestyle: "'German, DMY'",
  intervalstyle: 'sql_standard',
  timezone: "'Asia/Kathmandu'",
  bytea_output: 'escape',
  extra_float_digits: '-10',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  transform_null_equals: 'on',
  lock_timeout: '1',
};

const CONNECTIONS_MAX = 2;
const IDLE_MAX_MS = 60_000;

/**
 * A database of the caller's own in the server of this run, empty or a copy, dropped at the end even with
 * open connections.
 */
export const createDatabase = async ({
  template = 'template0',
  settings = ODD_SETTINGS,
  options = '',
}: Made = {}): Promise<TestDatabase> => {
  countStart('database', template);
  const server = serverOf(inject('postgresUrl'));
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  // Nobody can connect to the server's own template; copying another database fails while a client is
  // connected.
  await server.query(`create database ${name} template ${template} strategy file_copy ${options}`);
  await server.query(
    Object.entries(settings)
      .map(([setting, value]) => `alter database ${name} set ${setting} = ${value};`)
      .join(' '),
  );
  const url = new URL(inject('databasesUrl'));
  url.pathname = `/${name}`;
  return {
    name,
    url: url.href,
    [Symbol.asyncDispose]: async () =>
      void (await server.query(`drop database if exists ${name} with (force)`)),
  };
};

/** Connecting costs more than these statements, so this process keeps its connections. */
const serverOf = (url: string): pg.Pool => {
  if (kept?.url !== url) kept = { url, pool: openServer(url) };
  return kept.pool;
};

let kept: { readonly url: string; readonly pool: pg.Pool } | undefined;

const openServer = (url: string): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    connectionTimeoutMillis: scaled(10_000),
    max: CONNECTIONS_MAX,
    idleTimeoutMillis: IDLE_MAX_MS,
    allowExitOnIdle: true,
  });
  // The server may end before this process does.
  pool.on('error', () => {});
  return pool;
};

/** A role that may connect, with further grants; dropped at the end, with its objects in this database. */
export const createRole = async (
  url: string,
  ...grants: readonly string[]
): Promise<AsyncDisposable & { readonly url: string }> => {
  const name = `role_${randomUUID().replaceAll('-', '')}`;
  await execute(
    url,
    `create role ${name} login password '${name}'; ${grants.map((grant) => `${grant} ${name};`).join(' ')}`,
  );
  const as = new URL(url);
  as.username = name;
  as.password = name;
  return {
    url: as.href,
    [Symbol.asyncDispose]: () => execute(url, `drop owned by ${name} cascade; drop role ${name}`),
  };
};

const execute = async (url: string, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: scaled(10_000) });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};

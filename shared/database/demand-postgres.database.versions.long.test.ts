import { expect, inject, test } from 'vitest';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { createDatabase, createRole } from '../../test/engines/database.ts';
import { startSystemPostgres, systemPostgresMissing } from '../../test/engines/system-postgres.ts';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { type AddressSetting, demandPostgres } from './demand-postgres.ts';
import { migrateLeases } from './lease/lease.ts';
import { openPool } from './pool.ts';

const changed = (url: string, change: (url: URL) => void): string => {
  const parsed = new URL(url);
  change(parsed);
  return parsed.href;
};

const refusalOf = async (
  url: string,
  more: { setting?: AddressSetting; majorMin?: number } = {},
): Promise<string> => {
  const error: unknown = await demandPostgres({ url, setting: 'DATABASE_URL', ...more }).catch(
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(StartRefused);
  return (error as StartRefused).message;
};

test('a usable server is used', async () => {
  await demandPostgres({ url: inject('postgresUrl'), setting: 'DATABASE_URL' });
});

test('an absent server is refused in a sentence with the setting and without the password', async () => {
  const url = 'postgres://annals:hidden@127.0.0.1:1/annals';
  expect(await refusalOf(url, { setting: 'EVENT_LOG_URL' })).toBe(
    'No PostgreSQL answers at 127.0.0.1:1 (ECONNREFUSED): start it, or set EVENT_LOG_URL to one that runs.',
  );
  expect(await refusalOf('postgres://annals:hidden@no-such-host.invalid/annals')).toMatch(
    /^No PostgreSQL answers at no-such-host\.invalid \(E\w+\): start it, or set DATABASE_URL/,
  );
});

test('so is an absent database', async () => {
  const { host } = new URL(inject('postgresUrl'));
  const url = changed(inject('postgresUrl'), (to) => {
    to.pathname = '/nowhere';
  });
  expect(await refusalOf(url)).toBe(
    `PostgreSQL at ${host} says that the database "nowhere" does not exist: create it, or set DATABASE_URL to another.`,
  );
});

test('so is a wrong password', async () => {
  await using database = await createDatabase();
  const url = changed(database.url, (to) => {
    to.password = 'mistyped';
  });
  const { host, username } = new URL(url);
  expect(await refusalOf(url)).toBe(
    `PostgreSQL at ${host} refuses the user of DATABASE_URL: password authentication failed for user "${username}".`,
  );
});

test('so is a database without a free connection', async () => {
  await using database = await createDatabase();
  await using pool = openPool({ url: inject('postgresUrl'), applicationName: 'test', connectionsMax: 1 });
  await pool.query(`alter database ${database.name} with allow_connections false`);
  expect(await refusalOf(database.url)).toMatch(
    / accepts no connection: .+\. Retry, or set DATABASE_URL to another\.$/,
  );
});

test('so is a server that is too old', async () => {
  const { host } = new URL(inject('postgresUrl'));
  expect(await refusalOf(inject('postgresUrl'), { majorMin: 99 })).toMatch(
    new RegExp(
      `^PostgreSQL at ${host} is version \\d+, but Annals needs 99 or newer: upgrade it, or set DATABASE_URL to a newer server\\.$`,
    ),
  );
});

test.each(['SQL_ASCII', 'LATIN1'])('a database in %s is refused', async (encoding) => {
  await using database = await createDatabase({ options: `encoding '${encoding}' locale 'C'` });
  expect(await refusalOf(database.url)).toMatch(
    / has the encoding \w+, but Annals needs UTF8: create another database \(docs\/postgresql\.md\), and set DATABASE_URL to it\.$/,
  );
});

test.each([
  ['default_transaction_read_only', 'on', 'off'],
  ['default_transaction_isolation', 'serializable', 'read committed'],
  ['session_replication_role', 'replica', 'origin'],
])(
  'a server with %s set to %s is refused, and the sentence has the remedy',
  async (name, value, demanded) => {
    await using database = await createDatabase({ settings: { [name]: value } });
    const refusal = await refusalOf(database.url);
    expect(refusal).toContain(
      ` has ${name} set to “${value}”, but Annals needs “${demanded}”: run alter role `,
    );
    await execute(inject('postgresUrl'), remedyIn(refusal));
    await demandPostgres({ url: database.url, setting: 'DATABASE_URL' });
  },
);

test('a standby is refused', async ({ skip }) => {
  skip(systemPostgresMissing !== undefined, systemPostgresMissing);
  await using primary = await startSystemPostgres();
  await primary.start();
  await primary.createDatabase();
  await using standby = await startSystemPostgres();
  await standby.followPrimary(primary.url);
  expect(await refusalOf(standby.url)).toBe(
    `PostgreSQL at ${new URL(standby.url).host} is a standby, which accepts no writes: set DATABASE_URL to the primary.`,
  );
  await demandPostgres({ url: primary.url, setting: 'DATABASE_URL' });
});

test.each([
  ['a table', 'create table public.lease (house text, rent int)', 'a table public.lease that'],
  [
    'tables',
    'create table public.lease (house text); create table public.rate_limit (name text)',
    'a table public.lease and 1 more that',
  ],
  [
    'a table for migrations',
    'create table public.annals_migration (year int)',
    'a table public.annals_migration that',
  ],
  ['a schema', 'create schema auth; create table auth.users (name text)', 'a schema auth that'],
])('a database in which another application has %s of the same name is refused', async (_, theirs, told) => {
  await using database = await createDatabase();
  await execute(database.url, theirs);
  expect(await refusalOf(database.url)).toContain(` has ${told} Annals did not create, but Annals needs `);
});

test('tables of other applications do not matter, nor do similarly named ones if only the log is stored there', async () => {
  await using database = await createDatabase();
  await execute(
    database.url,
    'create table public.lease (house text); create table public.customer (name text)',
  );
  expect(await refusalOf(database.url)).toContain('public.lease');
  await demandPostgres({ url: database.url, setting: 'EVENT_LOG_URL' });
  await execute(database.url, 'drop table public.lease');
  await demandPostgres({ url: database.url, setting: 'DATABASE_URL' });
});

test('a role that may not create tables is refused, and the sentence has the remedy', async () => {
  await using database = await createDatabase();
  await using role = await createRole(database.url);
  const refusal = await refusalOf(role.url);
  expect(refusal).toMatch(
    /^The role \w+ may not create the tables of Annals in the database \w+ at \S+: run grant /,
  );
  await execute(database.url, remedyIn(refusal));
  await demandPostgres({ url: role.url, setting: 'DATABASE_URL' });
});

test('a role that may not use the present tables is refused', async () => {
  await using database = await createDatabase();
  await using pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 1 });
  await migrateLeases(pool);
  await demandPostgres({ url: database.url, setting: 'DATABASE_URL' });
  await using role = await createRole(database.url);
  expect(await refusalOf(role.url)).toMatch(
    / may not use the tables of Annals in .+: connect as their owner, or give them to \w+/,
  );
});

/** The statements at the end of a refusal. */
const remedyIn = (refusal: string): string =>
  /: run ((?:alter|grant) [^(]+?)(?: \(docs\/postgresql\.md\))?\.$/.exec(refusal)?.[1] ?? '';

const execute = (url: string, sql: string): Promise<void> =>
  inDatabase(url, async (client) => void (await client.query(sql)));

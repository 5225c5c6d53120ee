import { expect, inject, test } from 'vitest';
import { StartRefused } from '#shared/start-refused.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { type AddressSetting, demandPostgres } from './demand-postgres.ts';
import { openPool } from './pool.ts';

const changed = (url: string, change: (url: URL) => void): string => {
  const parsed = new URL(url);
  change(parsed);
  return parsed.href;
};

const refusalOf = async (url: string, more: { setting?: AddressSetting; majorMin?: number } = {}): Promise<string> => {
  const error: unknown = await demandPostgres({ url, setting: 'DATABASE_URL', ...more }).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(StartRefused);
  return (error as StartRefused).message;
};

test('a server that can be used is used', async () => {
  await demandPostgres({ url: inject('postgresUrl'), setting: 'DATABASE_URL' });
});

test('a server that is not there is a sentence with the setting and without the password', async () => {
  const url = 'postgres://annals:hidden@127.0.0.1:1/annals';
  expect(await refusalOf(url, { setting: 'EVENT_LOG_URL' })).toBe(
    'No PostgreSQL answers at 127.0.0.1:1 (ECONNREFUSED): start it, or set EVENT_LOG_URL to one that runs.',
  );
  expect(await refusalOf('postgres://annals:hidden@no-such-host.invalid/annals')).toMatch(
    /^No PostgreSQL answers at no-such-host\.invalid \(E\w+\): start it, or set DATABASE_URL/,
  );
});

test('so is a database that is not there', async () => {
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

test('so is a database that takes no more connections', async () => {
  await using database = await createDatabase();
  await using pool = openPool({ url: inject('postgresUrl'), applicationName: 'test', connectionsMax: 1 });
  await pool.query(`alter database ${database.name} with allow_connections false`);
  expect(await refusalOf(database.url)).toMatch(/ takes no connection: .+\. Try again, or set DATABASE_URL to another\.$/);
});

test('so is a server that is too old', async () => {
  const { host } = new URL(inject('postgresUrl'));
  expect(await refusalOf(inject('postgresUrl'), { majorMin: 99 })).toMatch(
    new RegExp(`^At ${host} is PostgreSQL \\d+, and Annals needs 99 or newer: upgrade it, or set DATABASE_URL to one that is\\.$`),
  );
});

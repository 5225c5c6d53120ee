import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { runAnnals } from '../annals-process.ts';
import { createDatabase, createRole } from '../engines/database.ts';
import { operate as command, startInstallation } from '../engines/installation.ts';
import { askAs, operate, startWriter, titlesOf } from './operated.ts';

/** Follows the instructions of docs/postgresql.md for people's own databases, except for names. */
const PAGE = readFileSync(new URL('../../docs/postgresql.md', import.meta.url), 'utf8');
const BLOCKS = new Map(
  [...PAGE.matchAll(/^```sql (\w+)\n(.*?)^```$/gms)].map(([, name = '', sql = '']) => [name, sql]),
);
const blockOf = (name: string, own: string): string =>
  (BLOCKS.get(name) ?? '').replaceAll(/\bannals\b/g, own);

const execute = (url: string, sql: string): Promise<void> =>
  inDatabase(url, async (client) => void (await client.query(sql)));
const changed = (url: string, change: (url: URL) => void): string => {
  const parsed = new URL(url);
  change(parsed);
  return parsed.href;
};
/** Writes, reads, rebuilds and verifies. */
const isUsed = async (databaseUrl: string): Promise<void> => {
  await using operated = await operate(databaseUrl);
  const { settings } = operated;
  await using installation = await startInstallation({ ownProcess: true, settings });
  const asked = await askAs(installation);
  const writer = startWriter(asked);
  await writer.more(3);
  await writer.end();
  const written = writer.acknowledged;
  expect(await titlesOf(asked, written, written.at(-1)?.cursor)).toEqual(written.map(({ title }) => title));
  await command(['projection', 'rebuild'], settings);
  expect(await command(['audit', 'verify'], settings)).toContain('Proven, ');
};

test('a database of its own is enough, even with a schema named like the role', async () => {
  const server = inject('postgresUrl');
  const name = `r${randomUUID().replaceAll('-', '')}`;
  for (const statement of blockOf('setup', name).split(/(?<=;)\n/)) await execute(server, statement);
  await using _ = { [Symbol.asyncDispose]: () => dropAll(server, name) };
  const url = changed(server, (to) => {
    to.username = name;
    to.password = 'make one of your own';
    to.pathname = name;
  });
  await execute(url, `create schema ${name}`);
  await isUsed(url);
});

const dropAll = async (server: string, name: string): Promise<void> => {
  await execute(server, `drop database ${name} with (force)`);
  await execute(server, `drop role ${name}`);
};

test('the listed rights are enough in a shared database', async () => {
  await using database = await createDatabase();
  await using role = await createRole(database.url);
  const name = new URL(role.url).username;
  const grants = blockOf('grants', name).replace(`on database ${name}`, `on database ${database.name}`);
  await execute(database.url, `revoke all on database ${database.name} from public; ${grants}`);
  await isUsed(role.url);
});

test('tables that an earlier release has made in another schema are moved without loss', async () => {
  await using database = await createDatabase();
  await using operated = await operate(database.url);
  const { settings } = operated;
  const { admin, written } = await (async () => {
    await using installation = await startInstallation({ ownProcess: true, settings });
    const writer = startWriter(await askAs(installation));
    await writer.more(3);
    await writer.end();
    return { admin: installation.admin, written: writer.acknowledged };
  })();
  await execute(
    database.url,
    `create schema app; do $$ declare name text; begin
       for name in select tablename from pg_tables where schemaname = 'public' and tablename not in ('authentic_events', 'decided_events') loop execute format('alter table public.%I set schema app', name); end loop;
     end $$`,
  );
  const { exit, output } = await runAnnals(['query/main.ts'], settings);
  expect([exit, output]).toEqual([
    1,
    expect.stringMatching(
      /^In the database \w+ at \S+, an earlier release created its tables in the schema app: move them .+\n$/,
    ),
  ]);
  await execute(database.url, blockOf('move', 'annals'));
  await using installation = await startInstallation({ ownProcess: true, settings, admin });
  const asked = await askAs(installation);
  expect(await titlesOf(asked, written, written.at(-1)?.cursor)).toEqual(written.map(({ title }) => title));
  expect(await command(['audit', 'verify'], settings)).toContain('Proven, ');
});

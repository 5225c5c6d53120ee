// Takes minutes, so it starts first.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, inject, test } from 'vitest';
import { readOwnNames } from '#shared/database/usable.ts';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { until } from '../../testing/until.ts';
import { runAnnals, startAnnals } from '../annals-process.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase, createRole } from '../engines/database.ts';
import { pgBouncerMissing, startPgBouncer } from '../engines/pgbouncer.ts';

// Own server: it tests the start of one process.

/** Starts on the server of DATABASE_URL; those on the embedded one are in start.engine.test.ts. */

const draft = JSON.stringify({ articleId: 42, authorId: 7, title: 'One', body: '', tags: [], cover: null });

test('a start on an empty database succeeds, and a second start finds its data', async () => {
  await using dataDir = await temporaryDataDir();
  await using database = await createDatabase();
  const environment = { DATA_DIR: dataDir.path, DATABASE_URL: database.url, RATE_LIMIT_URL: 'postgres:' };
  await using first = await startAnnals(environment);
  expect(await (await fetch(`${first.url}/readyz`)).json()).toMatchObject({ status: 'ready' });
  expect(
    await runAnnals(['annals.ts', 'log', 'append', 'article-42', 'article.drafted', draft], environment),
  ).toMatchObject({ exit: 0 });
  expect(await madeIn(database.url)).toEqual(await namesKnownBefore());
  first.child.kill('SIGKILL');
  await first.exited;
  await using second = await startAnnals(environment);
  expect((await runAnnals(['annals.ts', 'log', 'tail'], environment)).output).toContain(
    'article-42@1  article.drafted',
  );
  second.child.kill('SIGTERM');
  expect(await second.exited).toBe(0);
});

/** The schemas, and the tables outside of them. */
const madeIn = (url: string) =>
  inDatabase(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public'
       union all select nspname from pg_namespace where nspname !~ '^(pg_|information_schema$|public$)' order by 1`,
    );
    return rows.map(({ name }) => name);
  });

/**
 * Names that the start looks for, to detect another application; the queue may be shared with others. Only an
 * event log on a shared server has an owner.
 */
const namesKnownBefore = async () => {
  const { tables, schemas } = await readOwnNames();
  const made = tables.filter((name) => name !== 'event_log_owner');
  // Publishing has no log of reads.
  const schemasMade = schemas.filter((name) => name !== 'read_log');
  return [...made, 'annals_migration', ...schemasMade, 'read_model', 'bullmq'].toSorted();
};

test('a database of another application is refused in one sentence, and nothing is made in it', async () => {
  await using dataDir = await temporaryDataDir();
  await using database = await createDatabase();
  await inDatabase(database.url, (client) => client.query('create table public.lease (house text)'));
  const started = await Promise.all(
    ['main.ts', 'command/main.ts', 'webhook-dispatcher/main.ts'].map((role) =>
      runAnnals([role], { DATA_DIR: dataDir.path, DATABASE_URL: database.url }),
    ),
  );
  for (const each of started)
    expect(each).toEqual({
      exit: 1,
      output: expect.stringMatching(/^The database \w+ at \S+ has a table public\.lease that Annals .+\n$/),
    });
  expect(await madeIn(database.url)).toEqual(['lease']);
});

test('a later refusal of the server is one sentence as well, from a role and from the command line', async ({
  skip,
}) => {
  skip(
    process.env.TEST_PGBOUNCER !== undefined,
    'the pooler of the tests signs in as one role, whoever comes',
  );
  await using dataDir = await temporaryDataDir();
  await using database = await createDatabase();
  const environment = { DATA_DIR: dataDir.path, DATABASE_URL: database.url };
  expect(
    await runAnnals(['annals.ts', 'log', 'append', 'article-42', 'article.drafted', draft], environment),
  ).toMatchObject({ exit: 0 });
  await using role = await createRole(database.url, 'grant select, insert on public.annals_migration to');
  for (const args of [['query/main.ts'], ['annals.ts', 'log', 'tail']]) {
    const sentence =
      /^.*“permission denied for (?:schema (?:public|event_log)|table master_key_check)”: grant the missing rights to its role \(docs\/postgresql\.md\)\.\n$/;
    expect(await runAnnals(args, { ...environment, DATABASE_URL: role.url })).toEqual({
      exit: 1,
      output: expect.stringMatching(sentence),
    });
  }
  await inDatabase(database.url, (client) =>
    client.query('create table public.persisted_document (page text)'),
  );
  const taken =
    /^\{.*The event log is in the database\..*\n.*“relation "persisted_document" already exists”: another application uses a name that Annals needs, so create a .+\n$/;
  expect(await runAnnals(['query/main.ts'], environment)).toEqual({
    exit: 1,
    output: expect.stringMatching(taken),
  });
});

test('behind a pooler notifications use the direct connection; without one, the start explains how changes are found', async ({
  skip,
}) => {
  skip(pgBouncerMissing !== undefined, pgBouncerMissing);
  await using dataDir = await temporaryDataDir();
  await using database = await createDatabase();
  const direct = Object.assign(new URL(inject('postgresUrl')), { pathname: `/${database.name}` }).href;
  await using pgBouncer = await startPgBouncer(direct, 'transaction');
  const environment = { DATA_DIR: dataDir.path, DATABASE_URL: pgBouncer.through(direct) };
  const listening = (): Promise<number | null> =>
    inDatabase(direct, async (client) => (await client.query(LISTENING)).rowCount);
  {
    await using annals = await startAnnals({ ...environment, DATABASE_DIRECT_URL: direct });
    await until(listening, (count) => count === 2);
    expect(annals.output()).not.toContain('DATABASE_URL leads to a pooler');
  }
  await using annals = await startAnnals(environment);
  expect(annals.output()).toContain('DATABASE_URL leads to a pooler');
});

/** On the log and on the read model. */
const LISTENING = `select from pg_stat_activity where datname = current_database() and application_name = 'annals-bell'`;

test('a request that does not end is cut off within the drain time', async () => {
  await using dataDir = await temporaryDataDir();
  await using database = await createDatabase();
  // Three tenths of the drain time are for other work, which is little without a database of its own.
  await using annals = await startAnnals({
    DATA_DIR: dataDir.path,
    DATABASE_URL: database.url,
    DRAIN_MS: '15000',
  });
  const { hostname, port } = new URL(annals.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  const form = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n';
  socket.write(`POST /token HTTP/1.1\r\nHost: x\r\n${form}Expect: 100-continue\r\n\r\n`);
  // The server asks for the body when the request is in flight, and waits for it in vain.
  const [received] = await once(socket, 'data');
  expect(String(received)).toContain('100 Continue');
  annals.child.kill('SIGTERM');
  expect(await annals.exited).toBe(0);
  expect(annals.output()).toContain('Requests that took too long were cut off.');
});

test('a connection without a request does not delay the stop', async () => {
  await using dataDir = await temporaryDataDir();
  await using database = await createDatabase();
  await using annals = await startAnnals({ DATA_DIR: dataDir.path, DATABASE_URL: database.url });
  const { hostname, port } = new URL(annals.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  expect((await fetch(`${annals.url}/livez`)).status).toBe(200);
  annals.child.kill('SIGTERM');
  expect(await annals.exited).toBe(0);
  expect(annals.output()).not.toContain('cut off');
});

test('a database that does not answer is one sentence that names its setting, and no more', async () => {
  await using dataDir = await temporaryDataDir();
  const environment = { DATA_DIR: dataDir.path, DATABASE_URL: 'postgres://annals:hidden@127.0.0.1:1/annals' };
  const sentence =
    'No PostgreSQL answers at 127.0.0.1:1 (ECONNREFUSED): start it, or set DATABASE_URL to one that runs.\n';
  for (const args of [['main.ts'], ['annals.ts', 'log', 'tail']]) {
    expect(await runAnnals(args, environment)).toEqual({ exit: 1, output: sentence });
  }
});

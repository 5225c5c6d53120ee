import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createDatabase } from '../../test/engines/database.ts';
import { pauseBackends } from '../../test/engines/pause-backends.ts';
import { isPassing, isSilence } from './failures.ts';
import { openPool } from './pool.ts';
import { inTransaction } from './transaction.ts';

const open = (url: string) => openPool({ url, applicationName: 'test-pool', connectionsMax: 2 });

test('an int8 is read as a number', async () => {
  await using database = await createDatabase();
  await using pool = open(database.url);
  const { rows } = await pool.query(
    `select 9007199254740991::int8 as one, '{1,null,-9007199254740991}'::int8[] as many`,
  );
  expect(rows).toEqual([{ one: 9007199254740991, many: [1, null, -9007199254740991] }]);
});

test('an int8 that exceeds the safe integers is an error', async () => {
  await using database = await createDatabase();
  await using pool = open(database.url);
  await expect(pool.query('select 9007199254740992::int8')).rejects.toThrow(RangeError);
  await expect(pool.query(`select '{9007199254740993}'::int8[]`)).rejects.toThrow(RangeError);
  expect((await pool.query('select 1 as still')).rows).toEqual([{ still: 1 }]);
});

test('a connection that the server ends while idle is replaced', async () => {
  await using database = await createDatabase();
  await using pool = open(database.url);
  await using other = open(database.url);
  await pool.query('select 1');
  const ended = once(pool, 'error');
  await other.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()`,
    [database.name],
  );
  await ended;
  expect((await pool.query('select 1 as again')).rows).toEqual([{ again: 1 }]);
});

test('settings of the server do not change reads and writes', async () => {
  await using database = await createDatabase();
  await using pool = open(database.url);
  const { rows } = await pool.query(
    `select timestamptz '2026-01-02 03:04:05.678+01' as at, array[null, 'a']::text[] = $1::text[] as "hasNull", null = null as equals,
       '\\'::text as slashes, 0.1::float8 + 0.2::float8 as sum, '\\x00ff'::bytea as bytes, to_json(timestamptz '2026-01-02 03:04:05+01') as told`,
    [[null, 'a']],
  );
  expect(rows).toEqual([
    {
      at: new Date('2026-01-02T02:04:05.678Z'),
      hasNull: true,
      equals: null,
      slashes: '\\',
      sum: 0.1 + 0.2,
      bytes: Buffer.of(0, 255),
      told: '2026-01-02T02:04:05+00:00',
    },
  ]);
});

test.each([
  ['off', 'on'],
  ['local', 'local'],
  ['remote_apply', 'remote_apply'],
])(
  'what commits is on the disk, and waits for a standby as the operator wants it: %s',
  async (given, expected) => {
    await using database = await createDatabase({ settings: { synchronous_commit: given } });
    await using pool = open(database.url);
    expect((await pool.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: expected }]);
  },
);

test('connections carry the name and the statement timeout', async () => {
  await using database = await createDatabase();
  await using pool = openPool({
    url: database.url,
    applicationName: 'test-name',
    connectionsMax: 1,
    statementTimeoutMs: 1_234,
  });
  const { rows } = await pool.query(
    `select current_setting('application_name') as name, current_setting('statement_timeout') as timeout`,
  );
  expect(rows).toEqual([{ name: 'test-name', timeout: '1234ms' }]);
});

test('disposal ends the connections, and doing it twice is fine', async () => {
  await using database = await createDatabase();
  const pool = open(database.url);
  await pool.query('select 1');
  await pool[Symbol.asyncDispose]();
  await pool[Symbol.asyncDispose]();
  expect(pool.totalCount).toBe(0);
});

test('a silent connection times out and is never used again', async () => {
  await using database = await createDatabase();
  await using pool = openPool({
    url: database.url,
    applicationName: 'test-silent',
    connectionsMax: 1,
    statementTimeoutMs: 100,
  });
  const pidOf = async () =>
    (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  const first = await pidOf();
  using paused = await pauseBackends(database.url, 'test-silent');
  expect(paused.pids).toEqual([first]);
  const failure = await inTransaction(pool, async () => 'never').catch((error: unknown) => error);
  expect([isPassing(failure), isSilence(failure)]).toEqual([true, true]);
  expect(await pidOf()).not.toBe(first);
});

test('if very many callers wait for a connection, the next fails at once', async () => {
  await using database = await createDatabase();
  await using pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 1 });
  const held = await pool.connect();
  const waiting = Array.from({ length: 2_000 }, () => pool.query('select 1'));
  const refusals = await Promise.allSettled([pool.query('select 1'), pool.connect()]);
  expect(refusals.map((refusal) => refusal.status === 'rejected' && isPassing(refusal.reason))).toEqual([
    true,
    true,
  ]);
  held.release();
  await Promise.allSettled(waiting);
  expect((await pool.query('select 1')).rowCount).toBe(1);
});

import { expect } from 'vitest';
import { pauseBackends } from '../../test/engines/pause-backends.ts';
import { test as base } from '../../test/engines/pool.ts';
import { isSilence } from './failures.ts';
import { inJointTransaction } from './joint.ts';
import { type Statement, sendPipelined } from './pipeline.ts';
import { type Connection, openPool } from './pool.ts';
import { prepared } from './prepared.ts';

const test = base
  .extend('send', { scope: 'file' }, ({ pool }) => async (statements: readonly Statement[]) => {
    const connection = await pool.connect();
    try {
      return await sendPipelined(connection, statements);
    } finally {
      connection.release();
    }
  })
  .extend('noted', { scope: 'file' }, ({ pool }) => async () => {
    const { rows } = await pool.query<{ value: number }>('select value from public.noted order by value');
    return rows.map(({ value }) => value);
  });
test.beforeAll(({ pool }) => pool.query('create table public.noted (value integer)'));

const note = (value: number): Statement => prepared('insert into public.noted values ($1)', [value]);

test('each statement has its own result, prepared or not', async ({ send }) => {
  const statements = [
    { text: 'select $1::int8 as big, null as nothing', values: [7] },
    prepared('select $1::text as text from generate_series(1, 2)', ['given']),
    { text: 'set local statement_timeout = 1000' },
    prepared('select 1 as one where false', []),
  ];
  for (let time = 0; time < 3; time += 1)
    expect(await send(statements)).toEqual([
      { rows: [{ big: 7, nothing: null }], rowCount: 1, command: 'SELECT' },
      { rows: [{ text: 'given' }, { text: 'given' }], rowCount: 2, command: 'SELECT' },
      { rows: [], rowCount: 0, command: 'SET' },
      { rows: [], rowCount: 0, command: 'SELECT' },
    ]);
  expect(await send([])).toEqual([]);
});

test('the same text may be prepared twice at once, and a value that cannot be written leaves the connection usable', async ({
  send,
}) => {
  const twice = prepared('select $1::integer as value', [1]);
  expect(await send([twice, { ...twice, values: [2] }])).toMatchObject([
    { rows: [{ value: 1 }] },
    { rows: [{ value: 2 }] },
  ]);
  const unwritable = {
    toPostgres: () => {
      throw new RangeError('no value');
    },
  };
  await expect(send([note(1), { text: 'select $1::text', values: [unwritable] }])).rejects.toThrow(
    'no value',
  );
  expect(await send([twice])).toMatchObject([{ rows: [{ value: 1 }] }]);
});

test('statements after a failure are skipped, and the ones before it are undone, even without a transaction', async ({
  noted,
  send,
}) => {
  await expect(send([note(1), prepared('select 1 / $1::integer', [0]), note(2)])).rejects.toMatchObject({
    code: '22012',
  });
  expect(await noted()).toEqual([]);
  expect(await send([note(3), prepared('select 1 / $1::integer as one', [1])])).toMatchObject([
    { rowCount: 1 },
    { rows: [{ one: 1 }] },
  ]);
  expect(await noted()).toEqual([3]);
});

test('a statement that cannot be prepared fails each time', async ({ noted, send }) => {
  const unknown = prepared('select * from nothing_like_it', []);
  for (let time = 0; time < 2; time += 1)
    await expect(send([note(4), unknown])).rejects.toMatchObject({ code: '42P01' });
  expect(await noted()).toEqual([3]);
});

test('a silent server is noticed after the time of one statement, however many were sent', async ({
  database,
}) => {
  await using pool = openPool({
    url: database.url,
    applicationName: 'test-silent-pipeline',
    connectionsMax: 1,
    statementTimeoutMs: 500,
    hasSeveralServers: true,
  });
  await pool.query('select 1');
  using _paused = await pauseBackends(database.url, 'test-silent-pipeline');
  // One by one, they would take hours.
  const many = Array.from({ length: 10_000 }, () => ({ text: 'select 1' }));
  const failure = await inJointTransaction(pool, many, [], { isShared: false }).catch(
    (error: unknown) => error,
  );
  expect(isSilence(failure)).toBe(true);
});

test('a server that works on each statement in time may take longer for all of them', async ({
  database,
}) => {
  await using pool = openPool({
    url: database.url,
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 1_000,
    unansweredMs: 200,
  });
  const slow = { text: 'select pg_sleep(0.6), 1 as slow' };
  const send = async (connection: Connection) =>
    expect(await sendPipelined(connection, [slow, slow, slow, slow])).toHaveLength(4);
  await inJointTransaction(pool, [], [send], { isShared: false });
});

test('a connection that ends in between fails the whole', async ({ noted, pool }) => {
  const connection = await pool.connect();
  const ending = { text: 'select pg_terminate_backend(pg_backend_pid())' };
  await expect(sendPipelined(connection, [note(7), ending, note(8)])).rejects.toThrow();
  connection.release(true);
  expect(await noted()).toEqual([3]);
});

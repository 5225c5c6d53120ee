import { expect } from 'vitest';
import { test as base } from '../../test/engines/pool.ts';
import { startRelay } from '../../test/engines/relay.ts';
import { inJointTransaction, type Work } from './joint.ts';
import { type Statement, sendLast, sendPipelined } from './pipeline.ts';
import { type Connection, openPool } from './pool.ts';
import { prepared } from './prepared.ts';

const test = base.extend('noted', { scope: 'file' }, ({ pool }) => async () => {
  const { rows } = await pool.query<{ who: string }>('select who from public.noted order by at');
  return rows.map(({ who }) => who);
});
test.beforeAll(({ pool }) => pool.query('create table public.noted (who text, at serial)'));
test.beforeEach(({ pool }) => pool.query('truncate public.noted'));

const note = (who: string): Statement => prepared('insert into public.noted (who) values ($1)', [who]);
const SHARED = { isShared: true };

test('each work gets the answers to its own statements, in the form of the driver too', async ({ pool }) => {
  const seen: unknown[] = [];
  const ask =
    (numbers: readonly number[]): Work =>
    async (connection) => {
      const answers = await sendPipelined(
        connection,
        numbers.map((number) => ({ text: 'select $1::integer as number', values: [number] })),
      );
      const { rows } = await connection.query('select $1::integer as sum', [answers.length]);
      seen.push([answers.map((answer) => answer.rows[0]?.number), rows]);
    };
  await inJointTransaction(pool, [], [ask([1, 2]), ask([]), ask([3])], SHARED);
  expect(seen).toEqual([
    [[], [{ sum: 0 }]],
    [[1, 2], [{ sum: 2 }]],
    [[3], [{ sum: 1 }]],
  ]);
});

test('what is sent last is sent after all others, but before what the same work sends then', async ({
  pool,
  noted,
}) => {
  const first: Work = async (connection) => {
    await sendLast(connection, [note('last of the first')]);
  };
  const second: Work = async (connection) => {
    await sendLast(connection, [note('not last')]);
    expect(await sendPipelined(connection, [note('of the second')])).toHaveLength(1);
  };
  await inJointTransaction(pool, [note('begun')], [first, second], SHARED);
  expect(await noted()).toEqual(['begun', 'not last', 'of the second', 'last of the first']);
});

test.for<readonly [string, (connection: Connection) => Promise<unknown>]>([
  ['throws', () => Promise.reject(new RangeError('poison'))],
  ['has a statement refused', (connection) => sendPipelined(connection, [{ text: 'select 1 / 0' }])],
  ['has its last statement refused', (connection) => sendLast(connection, [{ text: 'select 1 / 0' }])],
])('if one %s, nothing is written, and the connection is used again', async ([, fail], { pool, noted }) => {
  const write: Work = async (connection) => {
    await sendPipelined(connection, [note('one')]);
    await sendPipelined(connection, [note('one again')]);
  };
  await expect(inJointTransaction(pool, [note('begun')], [write, fail], SHARED)).rejects.toThrow(
    /poison|division by zero/,
  );
  await expect(inJointTransaction(pool, [{ text: 'select 1 / 0' }], [write], SHARED)).rejects.toThrow();
  expect(await noted()).toEqual([]);
  await inJointTransaction(pool, [], [write], SHARED);
  expect(await noted()).toEqual(['one', 'one again']);
});

test('a work that throws at once, or ignores a refusal, leaves nothing behind', async ({ pool, noted }) => {
  const { promise: goOn, resolve: letGo } = Promise.withResolvers<void>();
  const late: Work = async (connection) => {
    await goOn;
    await sendPipelined(connection, [note('late')]);
  };
  const throwing = (() => {
    letGo();
    throw new RangeError('at once');
  }) as unknown as Work;
  await expect(inJointTransaction(pool, [], [late, throwing], SHARED)).rejects.toThrow('at once');
  const ignoring: Work = async (connection) => {
    await sendPipelined(connection, [note('ignored')]);
    await sendPipelined(connection, [{ text: 'select 1 / 0' }]).catch(() => {});
  };
  await expect(inJointTransaction(pool, [], [ignoring], { isShared: false })).rejects.toThrow('rolled back');
  expect(await noted()).toEqual([]);
});

test('who writes alone can go back to a savepoint, but not to before the beginning', async ({
  pool,
  noted,
}) => {
  const refused: Statement = { text: 'select 1 / 0' };
  const goBack: Work = async (connection) => {
    await sendPipelined(connection, [note('kept'), { text: 'savepoint here' }]);
    await sendPipelined(connection, [note('undone'), refused]).catch(() =>
      connection.query('rollback to savepoint here'),
    );
    await sendPipelined(connection, [note('kept too')]);
  };
  const ignore: Work = (connection) => sendPipelined(connection, [note('never')]).catch(() => {});
  const alone = { isShared: false };
  await inJointTransaction(pool, [], [goBack], alone);
  await expect(inJointTransaction(pool, [], [goBack], SHARED)).rejects.toThrow('division by zero');
  await expect(inJointTransaction(pool, [refused], [ignore], alone)).rejects.toThrow('division by zero');
  expect(await noted()).toEqual(['kept', 'kept too']);
});

test('works that know all that they write take one round trip, with beginning and commit', async ({
  database,
  noted,
}) => {
  await using relay = await startRelay(database.url);
  await using pool = openPool({ url: relay.url, applicationName: 'test', connectionsMax: 1 });
  await pool.query('select 1');
  const answers = relay.withhold();
  const last =
    (who: string): Work =>
    async (connection) =>
      sendLast(connection, [note(who)]);
  const done = inJointTransaction(pool, [note('begun')], [last('one'), last('two')], SHARED);
  await expect.poll(noted).toEqual(['begun', 'one', 'two']);
  answers.release();
  await done;
});

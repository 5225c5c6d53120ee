import { expect } from 'vitest';
import { type Cuttable, openCuttable } from '../../test/engines/cuttable.ts';
import { test as base } from '../../test/engines/pool.ts';
import { isPassing, isSilence } from './failures.ts';
import { openPool, type Pool, type PoolOptions } from './pool.ts';
import { inTransaction } from './transaction.ts';

/** Nothing here waits for it. */
const HOUR_MS = 3_600_000;
const UNANSWERED_MS = 200;
const CONNECTIONS = 3;

const test = base
  .extend('way', async ({ database }, { onCleanup }): Promise<Cuttable> => {
    const way = await openCuttable(database.url.replace(/^postgres(?:ql)?:/, 'http:'));
    onCleanup(() => way[Symbol.asyncDispose]());
    return way;
  })
  .extend('openThrough', ({ database, way }, { onCleanup }) => {
    const pools = new AsyncDisposableStack();
    onCleanup(() => pools.disposeAsync());
    return (more: Partial<PoolOptions> = {}): Pool =>
      pools.use(
        openPool({
          url: Object.assign(new URL(database.url), { host: `127.0.0.1:${way.port}` }).href,
          applicationName: 'test-hangs',
          connectionsMax: CONNECTIONS,
          statementTimeoutMs: HOUR_MS,
          unansweredMs: UNANSWERED_MS,
          ...more,
        }),
      );
  })
  /** As after a failover: its connections lead nowhere without being closed, and new ones reach the server. */
  .extend('openStranded', ({ openThrough, way }) => async (more?: Partial<PoolOptions>): Promise<Pool> => {
    const pool = openThrough(more);
    await fill(pool);
    way.strand();
    way.mend();
    return pool;
  });

const fill = (pool: Pool) => all(() => pool.query('select pg_sleep(0.05)'));
const all = (work: () => Promise<unknown>) => Promise.allSettled(Array.from({ length: CONNECTIONS }, work));
test('statements on connections that the server no longer serves fail long before their timeout', async ({
  openStranded,
}) => {
  const pool = await openStranded();
  const outcomes = await all(() => pool.query('select 1'));
  expect(
    outcomes.map((each) => each.status === 'rejected' && [isPassing(each.reason), isSilence(each.reason)]),
  ).toEqual(outcomes.map(() => [true, true]));
  expect((await pool.query('select 1 as again')).rows).toEqual([{ again: 1 }]);
});

test('one statement without a response is enough to replace the idle connections of a pool', async ({
  openStranded,
}) => {
  const pool = await openStranded();
  const failures: unknown[] = [];
  for (let time = 0; time <= CONNECTIONS; time += 1)
    await inTransaction(pool, (connection) => connection.query('select 1')).catch((error: unknown) =>
      failures.push(error),
    );
  expect(failures).toHaveLength(1);
});

test('a slow statement, and one that waits for a lock, continue', async ({ openThrough }) => {
  const pool = openThrough();
  await pool.query('select pg_advisory_lock(1)');
  expect((await pool.query('select pg_sleep(1), 1 as slow')).rows).toMatchObject([{ slow: 1 }]);
  const holder = await pool.connect();
  await holder.query('begin; select pg_advisory_xact_lock(2)');
  const waiting = pool.query('select pg_advisory_xact_lock(2), 1 as waited');
  await pool.query('select pg_sleep(1)');
  await holder.query('commit');
  holder.release();
  expect((await waiting).rows).toMatchObject([{ waited: 1 }]);
});

test('behind an address of several servers, only the timeout of the statement decides', async ({
  openStranded,
}) => {
  const pool = await openStranded({ hasSeveralServers: true, statementTimeoutMs: 1_000 });
  await expect(pool.query('select 1')).rejects.toThrow('Query read timeout');
});

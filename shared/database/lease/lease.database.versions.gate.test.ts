// Over 200 lines, because every case works under leases with the worker that is set up here.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openCuttable } from '../../../test/engines/cuttable.ts';
import { test as base } from '../../../test/engines/pool.ts';
import { scaled } from '../../../testing/load.ts';
import { until } from '../../../testing/until.ts';
import { openPool, type Pool } from '../pool.ts';
import { holdLeases, isHeld, migrateLeases, runUnderLease } from './lease.ts';
import { takeLease } from './take-lease.ts';

/** Longer on a loaded machine, but the tests wait for many of them. */
const TTL_MS = Math.min(scaled(700), 1_500);
const idle = (signal: AbortSignal) => delay(60_000, undefined, { signal }).catch(() => {});
type Work = {
  readonly on?: Pool;
  readonly work?: (signal: AbortSignal) => Promise<unknown>;
  readonly ttlMs?: number;
};

const test = base
  .extend('connectionsMax', { scope: 'file' }, 8)
  /** Works under a lease in the background, and shows when the work began and ended. */
  .extend(
    'startWorker',
    { scope: 'file' },
    ({ pool }) =>
      (name: string, { on = pool, work = idle, ttlMs = TTL_MS }: Work = {}) => {
        const epochs: number[] = [];
        const failures: unknown[] = [];
        let working = false;
        const stopping = new AbortController();
        const running = runUnderLease(
          { pool: on, name, clock: REAL_TIME, ttlMs, onFailure: (error) => failures.push(error) },
          async ({ epoch, signal }) => {
            epochs.push(epoch);
            working = true;
            try {
              await work(signal);
            } finally {
              working = false;
            }
          },
          stopping.signal,
        );
        return {
          epochs,
          failures,
          isWorking: () => working,
          async [Symbol.asyncDispose]() {
            stopping.abort();
            await running;
          },
        };
      },
  );
test.beforeAll(({ pool }) => migrateLeases(pool));

test('one of several processes works, and the next takes over when it ends, with a higher epoch', async ({
  startWorker,
}) => {
  const first = startWorker('ends');
  await until(first.isWorking, Boolean);
  await using second = startWorker('ends');
  await using third = startWorker('ends');
  await delay(2 * TTL_MS);
  expect([first.isWorking(), second.isWorking(), third.isWorking()]).toEqual([true, false, false]);
  await first[Symbol.asyncDispose]();
  await until(() => second.isWorking() || third.isWorking(), Boolean);
  expect([...second.epochs, ...third.epochs]).toEqual([2]);
});

test('leases of different names are independent', async ({ startWorker }) => {
  await using one = startWorker('name-one');
  await using two = startWorker('name-two');
  await until(() => one.isWorking() && two.isWorking(), Boolean);
});

test('the signal of an owner aborts when its lease is taken', async ({ pool, startWorker }) => {
  await using owner = startWorker('taken');
  await until(owner.isWorking, Boolean);
  await pool.query(
    `update public.lease set owner = gen_random_uuid(), epoch = epoch + 1, expires_at = now() + interval '1 hour' where name = 'taken'`,
  );
  await until(() => !owner.isWorking(), Boolean);
});

test('an owner that cannot renew stops by its own clock', async ({ database, pool, startWorker }) => {
  const own = openPool({ url: database.url, applicationName: 'test', connectionsMax: 2 });
  await using owner = startWorker('unreachable', { on: own });
  await until(owner.isWorking, Boolean);
  const stalled = await pool.connect();
  await stalled.query('begin');
  await stalled.query(`select from public.lease where name = 'unreachable' for update`);
  await until(() => !owner.isWorking(), Boolean, 20 * TTL_MS);
  await stalled.query('rollback');
  stalled.release();
  await owner[Symbol.asyncDispose]();
  await own[Symbol.asyncDispose]();
});

test('an owner keeps a lease whose row other transactions hold again and again', async ({
  pool,
  startWorker,
}) => {
  await using owner = startWorker('shared');
  await until(owner.isWorking, Boolean);
  const holders = await Promise.all([pool.connect(), pool.connect()]);
  const endsAtMs = performance.now() + 3 * TTL_MS;
  const hold = async (holder: (typeof holders)[number]) => {
    await holder.query(`begin; select from public.lease where name = 'shared' for share`);
    await delay(TTL_MS / 8);
    await holder.query('commit');
  };
  // One of them holds the row nearly always.
  while (performance.now() < endsAtMs) for (const holder of holders) await hold(holder);
  for (const holder of holders) holder.release();
  expect(owner.epochs).toEqual([1]);
});

test('an owner whose connection is lost without a word renews on another one', async ({
  database,
  startWorker,
}) => {
  await using way = await openCuttable(database.url.replace(/^postgres(?:ql)?:/, 'http:'));
  const url = Object.assign(new URL(database.url), { host: `127.0.0.1:${way.port}` }).href;
  await using own = openPool({ url, applicationName: 'test', connectionsMax: 2 });
  // Long enough to connect again on a busy machine.
  const ttlMs = 4 * TTL_MS;
  await using owner = startWorker('stranded', { on: own, ttlMs });
  await until(owner.isWorking, Boolean);
  way.strand();
  way.mend();
  const attempts = way.attempts();
  await until(way.attempts, (now) => now > attempts);
  await delay(ttlMs);
  expect(owner.epochs).toEqual([1]);
});

test('a lease that expires later than its length allows is free: the clock was set back', async ({
  pool,
  startWorker,
}) => {
  await pool.query(
    `insert into public.lease values ('clock-set-back', gen_random_uuid(), 7, clock_timestamp() + interval '1 hour')`,
  );
  await using worker = startWorker('clock-set-back');
  await until(worker.isWorking, Boolean);
  expect(worker.epochs).toEqual([8]);
});

test('after the clock is set back under a living owner there is one owner, whose lease ends within its length', async ({
  pool,
  startWorker,
}) => {
  await using owner = startWorker('set-back-while-held');
  await until(owner.isWorking, Boolean);
  await using other = startWorker('set-back-while-held');
  await pool.query(
    `update public.lease set expires_at = clock_timestamp() + interval '1 hour' where name = 'set-back-while-held'`,
  );
  const look = async () => {
    const { rows } = await pool.query<{ isHeld: boolean }>(
      `select ${isHeld('lease', TTL_MS)} as "isHeld" from public.lease where name = 'set-back-while-held'`,
    );
    return {
      isHeld: rows[0]?.isHeld,
      working: [owner.isWorking(), other.isWorking()].filter(Boolean).length,
    };
  };
  await until(look, ({ isHeld: held, working }) => held === true && working === 1);
});

test('failed work is reported and restarted', async ({ startWorker }) => {
  let times = 0;
  await using worker = startWorker('fails', {
    work: async (signal) => {
      times += 1;
      if (times === 1) throw new RangeError('once');
      await idle(signal);
    },
  });
  await until(() => worker.isWorking() && times === 2, Boolean);
  expect(worker.failures).toEqual([new RangeError('once')]);
  expect(worker.epochs).toEqual([1, 2]);
});

test('leases that are held leave their owners to stand by, and are taken again afterwards', async ({
  pool,
  startWorker,
}) => {
  await using worker = startWorker('held');
  await until(worker.isWorking, Boolean);
  {
    await using held = await holdLeases(pool, ['held', 'held-by-nobody'], TTL_MS);
    await until(() => !worker.isWorking(), Boolean);
    expect(held.lost.aborted).toBe(false);
  }
  await until(worker.isWorking, Boolean);
  expect(worker.epochs.at(-1)).toBeGreaterThan((worker.epochs[0] ?? 0) + 1);
});

test('work that stops because its lease was taken has not failed', async ({ pool, startWorker }) => {
  const work = async (signal: AbortSignal) => {
    await idle(signal);
    throw new Error();
  };
  await using worker = startWorker('stopped', { work });
  await until(worker.isWorking, Boolean);
  {
    await using _held = await holdLeases(pool, ['stopped'], TTL_MS);
    await until(() => !worker.isWorking(), Boolean);
  }
  await until(worker.isWorking, Boolean);
  expect(worker.failures).toEqual([]);
});

test('whoever holds a lease hears that it was taken', async ({ pool }) => {
  await using held = await holdLeases(pool, ['taken'], TTL_MS);
  await pool.query(
    `update public.lease set owner = gen_random_uuid(), epoch = epoch + 1 where name = 'taken'`,
  );
  await until(() => held.lost.aborted, Boolean);
});

test('a lease that is held cannot be taken, and can once its holder has ended', async ({ pool }) => {
  {
    await using first = await takeLease(pool, 'free', TTL_MS);
    expect(first?.lost.aborted).toBe(false);
    await delay(2 * TTL_MS);
    expect(await takeLease(pool, 'free', TTL_MS)).toBeUndefined();
  }
  await using second = await takeLease(pool, 'free', TTL_MS);
  expect(second).toBeDefined();
});

import type { QueryConfig } from 'pg';
import { expect } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { test as base } from '../../test/engines/pool.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { until } from '../../testing/until.ts';
import { openPool, type Pool } from './pool.ts';
import { EVERY_MS, pulseOf } from './pulse.ts';
import { inTransaction } from './transaction.ts';

const HOUR_MS = 3_600_000;

const test = base
  /** Counts the statements. */
  .extend('counted', ({ pool }) => {
    const texts: string[] = [];
    const counted = {
      query: (asked: QueryConfig) => {
        texts.push(asked.text);
        return pool.query(asked);
      },
    } as unknown as Pool;
    return { texts, pulse: pulseOf(counted) };
  })
  .extend('waiter', ({ counted: { pulse } }) => (until: string, options = {}) => {
    const { signal } = new AbortController();
    return pulse.wait({ until, clock: REAL_TIME, timeoutMs: HOUR_MS, signal, ...options });
  });
test.beforeAll(({ pool }) => pool.query('create table public.work (kind text)'));
test.beforeEach(({ pool }) => pool.query('truncate public.work'));

const isThere = (kind: string) => `exists (select from public.work where kind = '${kind}')`;

test('wakes who waits for a condition that holds, and no other, with one statement for all', async ({
  pool,
  counted,
  waiter,
}) => {
  const leaving = new AbortController();
  let isWoken = false;
  const other = waiter(isThere('other'), { signal: leaving.signal }).then(() => {
    isWoken = true;
  });
  const waiting = Promise.all([waiter(isThere('this')), waiter(isThere('this'))]);
  await pool.query(`insert into public.work values ('this')`);
  await waiting;
  expect(isWoken).toBe(false);
  expect(counted.texts.at(-1)).toBe(`select (${isThere('other')}) as "0", (${isThere('this')}) as "1"`);
  leaving.abort();
  await other;
});

test('a condition that fails wakes who waits for it, and no other', async ({ pool, waiter }) => {
  const leaving = new AbortController();
  let isWoken = false;
  const other = waiter(isThere('other'), { signal: leaving.signal }).then(() => {
    isWoken = true;
  });
  const waiting = Promise.all([waiter('exists (select from public.no_such_table)'), waiter(isThere('this'))]);
  await pool.query(`insert into public.work values ('this')`);
  await waiting;
  expect(isWoken).toBe(false);
  leaving.abort();
  await other;
});

test('a condition that waits for a lock keeps no other waiting', async ({ pool, database, waiter }) => {
  await using elsewhere = openPool({ url: database.url, applicationName: 'test', connectionsMax: 1 });
  await pool.query('create table public.locked (kind text)');
  await inTransaction(elsewhere, async (connection) => {
    await connection.query('lock table public.locked');
    const waiting = [waiter('exists (select from public.locked)'), waiter(isThere('this'))];
    expect(await Promise.all(waiting)).toEqual([true, true]);
    // Callers that look for themselves and wait again are woken each second, until the condition is answered.
    expect(await waiter(isThere('that'))).toBe(true);
  });
});

test('each condition has its own values', async ({ pool, waiter }) => {
  const until = 'exists (select from public.work where kind = $2 and $1::integer > 0)';
  const leaving = new AbortController();
  let isWoken = false;
  const other = waiter(until, { values: [1, 'other'], signal: leaving.signal }).then(() => {
    isWoken = true;
  });
  await pool.query(`insert into public.work values ('this')`);
  expect(await waiter(until, { values: [2, 'this'] })).toBe(true);
  expect(isWoken).toBe(false);
  leaving.abort();
  await other;
});

test('connections keep a statement only for conditions that are asked again', async ({ database }) => {
  await using pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 1 });
  let asked = 0;
  const wait = (until: string, times: number) => {
    const ending = new AbortController();
    const onNo = () => {
      asked += 1;
      if (asked === times) ending.abort();
    };
    return pulseOf(pool).wait({ until, clock: REAL_TIME, timeoutMs: HOUR_MS, signal: ending.signal, onNo });
  };
  const kept = async () => {
    const { rows } = await pool.query(
      `select statement from pg_prepared_statements where statement ~ '1 = 2' or statement ~ '1 = 3'`,
    );
    return rows.map(({ statement }) => statement);
  };
  await wait('1 = 2', 1);
  expect(await kept()).toEqual([]);
  await wait('1 = 3', 3);
  expect(await kept()).toEqual(['select (1 = 3) as "0"']);
});

test('who waits in another order asks by the same statement', async ({ counted, waiter }) => {
  const clock = createTestClock();
  const conditions = ['1 = 2', '1 = 3', '1 = 4'];
  let noes = 0;
  const onNo = () => {
    noes += 1;
  };
  for (const order of [conditions, conditions.toReversed(), ['1 = 3', '1 = 4', '1 = 2']]) {
    noes = 0;
    const leaving = new AbortController();
    const waiting = order.map((each) => waiter(each, { clock, signal: leaving.signal, onNo }));
    await clock.pass(EVERY_MS);
    await until(
      () => noes,
      (count) => count === conditions.length,
    );
    leaving.abort();
    await Promise.all(waiting);
  }
  expect([...new Set(counted.texts)]).toEqual(['select (1 = 2) as "0", (1 = 3) as "1", (1 = 4) as "2"']);
});

test('says that a condition holds, and when it did not', async ({ pool, waiter }) => {
  const noes: number[] = [];
  const sinceMs = REAL_TIME.elapsedMs();
  const waiting = waiter(isThere('this'), { onNo: (askedAtMs: number) => noes.push(askedAtMs) });
  await until(
    () => noes.length,
    (count) => count > 0,
  );
  expect(noes[0]).toBeGreaterThan(sinceMs);
  expect(noes[0]).toBeLessThan(REAL_TIME.elapsedMs());
  await pool.query(`insert into public.work values ('this')`);
  expect(await waiting).toBe(true);
});

test('wakes after the timeout, whatever the condition', async ({ waiter }) => {
  const clock = createTestClock();
  const waiting = waiter('false', { clock, timeoutMs: HOUR_MS });
  await clock.pass(HOUR_MS);
  expect(await waiting).toBe(false);
});

test('asks nothing while nobody waits', async ({ counted, waiter }) => {
  const clock = createTestClock();
  const waiting = waiter('true', { clock });
  await clock.pass(EVERY_MS);
  await waiting;
  await clock.pass(EVERY_MS);
  expect(counted.texts).toEqual(['select (true) as "0"']);
  expect(clock.pending()).toEqual([]);
});

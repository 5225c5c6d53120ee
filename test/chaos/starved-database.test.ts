import { expect } from 'vitest';
import { openPool, type Pool, type PoolOptions } from '#shared/database/pool.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { openCuttable } from '../engines/cuttable.ts';
import { test as base } from '../engines/pool.ts';
import { openSlowEntrance } from '../engines/slow-entrance.ts';
import { createTestClock } from '../engines/test-clock.ts';

/** Ten processes with four pools each, whose callers retry at once. */
const POOLS = 40;
const CONNECTIONS_MAX = 4;
const CALLERS = 8;

const test = base.extend('originOf', { scope: 'file' }, ({ database }) => ({
  origin: database.url.replace(/^postgres(?:ql)?:/, 'http:'),
  through: (port: number) => Object.assign(new URL(database.url), { host: `127.0.0.1:${port}` }).href,
}));

const openPools = (url: string, more: Partial<PoolOptions>) => {
  const resources = new AsyncDisposableStack();
  const pools = Array.from({ length: POOLS }, () =>
    resources.use(openPool({ url, applicationName: 'test', connectionsMax: CONNECTIONS_MAX, ...more })),
  );
  return { pools, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** Callers of each pool that send a statement again as soon as it has failed, until all have an answer. */
const callAll = (pools: readonly Pool[]) => {
  const stopping = new AbortController();
  const answered = pools.map(() => 0);
  let failures = 0;
  const call = async (pool: Pool, index: number): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await pool.query('select 1');
        answered[index] = (answered[index] ?? 0) + 1;
        return;
      } catch {
        failures += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  };
  const calling = pools.flatMap((pool, index) => Array.from({ length: CALLERS }, () => call(pool, index)));
  return {
    answered: () => answered.reduce((sum, each) => sum + each, 0),
    failures: () => failures,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all(calling);
    },
  };
};

test(
  'while the server is unreachable each pool tries once at a time, after growing pauses, and all recover',
  async ({ originOf }) => {
    await using way = await openCuttable(originOf.origin);
    const clock = createTestClock();
    await using opened = openPools(originOf.through(way.port), { clock });
    const { pools } = opened;
    way.cut();
    await using calling = callAll(pools);
    await until(calling.failures, (failures) => failures >= POOLS * CALLERS);
    const before = way.attempts();
    expect(before).toBeLessThanOrEqual(POOLS * CONNECTIONS_MAX);
    // Pauses are at least half of 100 ms, 200 ms, … and 5 s.
    await clock.advanceUntil(250, clock.elapsedMs, (elapsedMs) => elapsedMs >= 60_000);
    const tried = way.attempts() - before;
    expect(tried).toBeGreaterThan(POOLS);
    expect(tried).toBeLessThanOrEqual(POOLS * 32);
    way.mend();
    const cut = way.attempts();
    await clock.advanceUntil(250, calling.answered, (answered) => answered === POOLS * CALLERS);
    expect(way.attempts() - cut).toBeLessThanOrEqual(POOLS * (1 + CONNECTIONS_MAX));
  },
  scaled(60_000),
);

test(
  'all pools reach a server again that accepts one connection after the other',
  async ({ originOf }) => {
    await using way = await openSlowEntrance(originOf.origin);
    // So nobody waits longer than a second for a connection; the queue of all pools is longer.
    await using opened = openPools(originOf.through(way.port), { statementTimeoutMs: 1 });
    const { pools } = opened;
    way.starve(50);
    await using calling = callAll(pools);
    await until(calling.answered, (answered) => answered === POOLS * CALLERS, 60_000);
    expect(way.attempts()).toBeLessThanOrEqual(3 * POOLS * CALLERS);
  },
  scaled(120_000),
);

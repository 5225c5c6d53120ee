import { describe, expect, test } from 'vitest';
import { type Arrivals, createRateLimit } from '#edge/rate-limit/gcra.ts';
import { memoryArrivals } from '#edge/rate-limit/memory/arrivals.ts';
import { openPostgresArrivals } from '#edge/rate-limit/postgres/arrivals.ts';
import { openChannel } from '#process/workers/channel.ts';
import { primaryArrivals } from '#process/workers/primary-arrivals.ts';
import type { OfPrimary } from '#process/workers/protocol.ts';
import { openPool } from '#shared/database/pool.ts';
import { until } from '../../testing/until.ts';
import { createChannelPair } from '../channel-pair.ts';
import { createDatabase } from '../engines/database.ts';
import { captureLog } from '../serve.ts';
import { type RateLimitEngine, testRateLimits } from './rate-limit-contract.ts';

const PROCESSES = 3;

const openMemory = async (): Promise<RateLimitEngine> => {
  let aheadMs = 0;
  const memory = memoryArrivals({ nowUs: () => Math.floor((performance.now() + aheadMs) * 1_000) });
  return {
    instances: [memory],
    advance: async (ms) => {
      aheadMs += ms;
    },
    [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose](),
  };
};

const openPostgres = async (): Promise<RateLimitEngine> => {
  await using opening = new AsyncDisposableStack();
  const { url } = opening.use(await createDatabase());
  const open = async () =>
    opening.use(await openPostgresArrivals({ url, installation: 'one', log: captureLog().log }));
  const instances = await Promise.all(Array.from({ length: PROCESSES }, open));
  const pool = opening.use(openPool({ url, applicationName: 'rate-limit-contract', connectionsMax: 1 }));
  const resources = opening.move();
  return {
    instances,
    // The server has its own clock: counted arrivals are moved the opposite way instead.
    advance: async (ms) =>
      void (await pool.query('update public.rate_limit set arrival_us = arrival_us - $1::bigint', [
        ms * 1_000,
      ])),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** Workers, with the memory of their primary process. */
const openWorkers = async (): Promise<RateLimitEngine> => {
  const { instances, ...memory } = await openMemory();
  const [arrivals] = instances as readonly [Arrivals];
  const open = () => {
    const [worker, primary] = createChannelPair();
    type Charging = Pick<OfPrimary, 'charge'>;
    openChannel<Charging, Record<never, never>>(primary, {
      charge: (charges) => Promise.all(charges.map((each) => arrivals.charge(each))),
    });
    return primaryArrivals(openChannel<Record<never, never>, OfPrimary>(worker, {}));
  };
  return { ...memory, instances: Array.from({ length: PROCESSES }, open) };
};

testRateLimits('memory', openMemory);
testRateLimits('memory of the primary process', openWorkers);
testRateLimits('PostgreSQL', openPostgres);

describe('rate limits in memory', () => {
  const newMemory = (keysMax: number) => {
    const clock = { us: 1_000_000 };
    const memory = memoryArrivals({ nowUs: () => clock.us, keysMax });
    return { clock, memory, limit: createRateLimit(memory, { name: 'p', unitsPerSecond: 1, burst: 2 }) };
  };

  test('drop keys without effect', async () => {
    const { clock, memory, limit } = newMemory(100);
    for (let index = 0; index < 50; index += 1) await limit.take(`old ${index}`, 1);
    clock.us += 1_000_000;
    for (let index = 0; index < 25; index += 1) await limit.take(`new ${index}`, 1);
    expect(memory.size()).toBe(25);
  });

  test('limit the number of keys, and drop those unused for longest', async () => {
    const { memory, limit } = newMemory(3);
    for (const key of ['a', 'b', 'c']) await limit.take(key, 2);
    expect((await limit.take('a', 1)).allowed).toBe(false);
    await limit.take('d', 1);
    expect(memory.size()).toBe(3);
    expect((await limit.take('a', 1)).allowed).toBe(false);
    expect((await limit.take('b', 1)).allowed).toBe(true);
  });

  test('count exactly by the clock', async () => {
    const { clock, limit } = newMemory(10);
    await limit.take('a', 2);
    clock.us += 999_999;
    expect(await limit.take('a', 1)).toMatchObject({ allowed: false, retryAfterMs: 1 });
    clock.us += 1;
    expect(await limit.take('a', 1)).toMatchObject({
      allowed: true,
      remaining: 0,
      refillMs: 1_000,
      resetMs: 2_000,
    });
  });
});

test('PostgreSQL deletes rows without effect, and keeps the others', async () => {
  await using database = await createDatabase();
  const { url } = database;
  await using arrivals = await openPostgresArrivals({
    url,
    installation: 'one',
    log: captureLog().log,
    cleanEveryMs: 20,
  });
  await using pool = openPool({ url, applicationName: 'rate-limit-clean', connectionsMax: 1 });
  const count = async () =>
    (await pool.query<{ count: number }>('select count(*) from public.rate_limit')).rows[0]?.count;
  await createRateLimit(arrivals, { name: 'slow', unitsPerSecond: 0.001, burst: 1 }).take('kept', 1);
  await pool.query(
    `insert into public.rate_limit (key, arrival_us, asked_at_us, allowed) select 'old ' || n, 0, 0, true from generate_series(1, 2500) n`,
  );
  await until(count, (seen) => seen === 1);
});

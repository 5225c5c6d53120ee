import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { RateLimit, RateLimits } from '#edge/rate-limit/rate-limit.ts';
import { openRateLimits } from '#process/engines/open-rate-limits.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import { until } from '../../testing/until.ts';
import { createDatabase } from '../engines/database.ts';
import { redisMissing, startRedis } from '../engines/redis.ts';
import { captureLog } from '../serve.ts';

/** A shared engine, and its faults. */
type Engine = AsyncDisposable & {
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** The server keeps its connections, but does not answer. */
  pause(): Promise<void>;
  resume(): Promise<void>;
};

const openRedis = async (): Promise<Engine> => {
  const server = await startRedis();
  return {
    url: server.url,
    stop: server.kill,
    start: server.start,
    pause: async () => server.pause(),
    resume: async () => server.resume(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};

/** All tests share the server of the run, so this closes and opens the database. */
const openPostgres = async (): Promise<Engine> => {
  await using opening = new AsyncDisposableStack();
  const { url, name } = opening.use(await createDatabase());
  const server = opening.use(
    openPool({ url: inject('postgresUrl'), applicationName: 'rate-limit-outage', connectionsMax: 1 }),
  );
  const database = opening.use(openPool({ url, applicationName: 'rate-limit-outage', connectionsMax: 1 }));
  const resources = opening.move();
  return {
    url,
    stop: async () => {
      await server.query(`alter database ${name} allow_connections false`);
      await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    },
    start: async () => void (await server.query(`alter database ${name} allow_connections true`)),
    // On one connection, so that the second statement ends what the first began.
    pause: async () =>
      void (await database.query('begin; lock table public.rate_limit in access exclusive mode')),
    resume: async () => void (await database.query('rollback')),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

if (redisMissing !== undefined) process.stderr.write(`Outages of Redis are not tested: ${redisMissing}.\n`);

describe.each([
  { name: 'PostgreSQL', open: openPostgres, missing: undefined },
  { name: 'Redis', open: openRedis, missing: redisMissing },
])('an outage of $name', ({ open, missing }) => {
  describe.skipIf(missing !== undefined)('', () => {
    let engine: Engine;
    let one: RateLimits;
    let other: RateLimits;
    const { log, logged } = captureLog();
    const resources = new AsyncDisposableStack();

    beforeAll(async () => {
      engine = resources.use(await open());
      one = resources.use(
        await openRateLimits({ url: engine.url, installation: 'one', log, clock: REAL_TIME }),
      );
      other = resources.use(
        await openRateLimits({ url: engine.url, installation: 'one', log, clock: REAL_TIME }),
      );
    });
    afterAll(() => resources.disposeAsync());

    const policy = (name: string, burst: number) => ({ name, unitsPerSecond: 0.001, burst });
    const count = (message: string): number => logged().split(message).length - 1;
    const warnings = () => count('Rate limits are not shared');
    const recoveries = () => count('Rate limits are shared again.');

    const untilShared = async (limits: readonly RateLimits[], wanted: number): Promise<void> => {
      await until(
        async () => {
          await Promise.all(limits.map((each) => each.of(policy('probe', 1_000_000)).take('a', 1)));
          return recoveries();
        },
        (seen) => seen >= wanted,
      );
    };

    const sharedLimits = async (name: string): Promise<void> => {
      const limits = [one.of(policy(name, 10)), other.of(policy(name, 10))];
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) => (limits[index % 2] as RateLimit).take('a', 1)),
      );
      expect(answers.filter(({ allowed }) => allowed)).toHaveLength(10);
    };

    test('refuses nobody, is logged once, and ends when the engine is back', async () => {
      const before = one.of(policy('before', 3));
      await before.take('a', 3);
      expect((await before.take('a', 1)).allowed).toBe(false);
      const [warned, recovered] = [warnings(), recoveries()];
      await engine.stop();
      expect((await before.take('a', 1)).allowed).toBe(true);
      for (let index = 0; index < 20; index += 1) {
        expect((await one.of(policy('during', 1_000)).take(`key ${index}`, 1)).allowed).toBe(true);
      }
      expect(warnings()).toBe(warned + 1);
      await engine.start();
      await untilShared([one], recovered + 1);
      await sharedLimits('after a stop');
    });

    test('leaves each process its own limit', async () => {
      const recovered = recoveries();
      await engine.stop();
      for (const limits of [one, other]) {
        const limit = limits.of(policy('alone', 5));
        for (let index = 0; index < 5; index += 1) expect((await limit.take('a', 1)).allowed).toBe(true);
        expect((await limit.take('a', 1)).allowed).toBe(false);
      }
      await engine.start();
      await untilShared([one, other], recovered + 2);
    });

    test('delays nobody if the engine does not answer at all', async () => {
      const [warned, recovered] = [warnings(), recoveries()];
      await engine.pause();
      const limit = one.of(policy('silence', 1_000));
      const answers = await Promise.all(Array.from({ length: 50 }, () => limit.take('a', 1)));
      expect(answers.every(({ allowed }) => allowed)).toBe(true);
      expect(warnings()).toBe(warned + 1);
      expect((await limit.take('a', 1)).allowed).toBe(true);
      await engine.resume();
      await untilShared([one], recovered + 1);
      await sharedLimits('after a silence');
    });

    test('during many requests fails none of them', async () => {
      const [warned, recovered] = [warnings(), recoveries()];
      const limit = one.of({ name: 'many', unitsPerSecond: 1_000_000, burst: 1_000_000_000 });
      const stopping = new AbortController();
      let refused = 0;
      const clients = Array.from({ length: 8 }, async () => {
        while (!stopping.signal.aborted) {
          if (!(await limit.take('a', 1)).allowed) refused += 1;
          await new Promise(setImmediate);
        }
      });
      await engine.stop();
      await until(warnings, (seen) => seen > warned);
      await engine.start();
      await until(recoveries, (seen) => seen > recovered);
      stopping.abort();
      await Promise.all(clients);
      expect(refused).toBe(0);
    });
  });
});

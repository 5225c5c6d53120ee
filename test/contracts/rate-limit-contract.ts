import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Arrivals, createRateLimit } from '#edge/rate-limit/gcra.ts';
import type { RateLimit, RatePolicy, Taken } from '#edge/rate-limit/rate-limit.ts';
import { until } from '../../testing/until.ts';

export type RateLimitEngine = AsyncDisposable & {
  /** One for each process. */
  readonly instances: readonly Arrivals[];
  /** Moves the time of everything counted so far forward or back. */
  advance(ms: number): Promise<void>;
};

let names = 0;
const newPolicy = (unitsPerSecond: number, burst: number): RatePolicy => {
  names += 1;
  return { name: `policy-${names}`, unitsPerSecond, burst };
};

/** One unit in a million seconds: the remaining units do not change during a test. */
const HARDLY = 1 / 1_000_000;
const UNIT_MS = 1_000_000_000;
const MINUTE_MS = 60_000;

/** The contract of every engine of rate limits. */
export const testRateLimits = (name: string, open: () => Promise<RateLimitEngine>): void => {
  describe(`rate limits: ${name}`, () => {
    let engine: RateLimitEngine;
    beforeAll(async () => {
      engine = await open();
    });
    afterAll(() => engine[Symbol.asyncDispose]());

    const limitsOf = (policy: RatePolicy): readonly RateLimit[] =>
      engine.instances.map((instance) => createRateLimit(instance, policy));
    const limitOf = (policy: RatePolicy): RateLimit => limitsOf(policy)[0] as RateLimit;

    test('allows a burst at once and refuses more', async () => {
      const limit = limitOf(newPolicy(HARDLY, 3));
      const answers = [];
      for (let index = 0; index < 4; index += 1) answers.push(await limit.take('a', 1));
      expect(answers.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
        [true, 2],
        [true, 1],
        [true, 0],
        [false, 0],
      ]);
      expect(answers.every((answer) => answer.limit === 3)).toBe(true);
    });

    test('reports when the next unit comes, when all are back, and when to retry', async () => {
      const limit = limitOf(newPolicy(HARDLY, 3));
      expect(near(await limit.take('a', 2))).toEqual({ retry: 0, refill: 1, reset: 2 });
      expect(near(await limit.take('a', 2))).toEqual({ retry: 1, refill: 1, reset: 2 });
      expect(near(await limit.take('a', 3))).toEqual({ retry: 2, refill: 1, reset: 2 });
    });

    test('takes several units together or not at all', async () => {
      const limit = limitOf(newPolicy(HARDLY, 10));
      expect(await limit.take('a', 7)).toMatchObject({ allowed: true, remaining: 3 });
      expect(await limit.take('a', 4)).toMatchObject({ allowed: false, remaining: 3 });
      expect(await limit.take('a', 3)).toMatchObject({ allowed: true, remaining: 0 });
    });

    test('does not charge for a refusal', async () => {
      const limit = limitOf(newPolicy(HARDLY, 2));
      await limit.take('a', 2);
      for (let index = 0; index < 20; index += 1) expect((await limit.take('a', 1)).allowed).toBe(false);
      await engine.advance(UNIT_MS);
      expect(await limit.take('a', 1)).toMatchObject({ allowed: true, remaining: 0 });
    });

    test('always refuses more than the burst, and charges nothing for it', async () => {
      const limit = limitOf(newPolicy(HARDLY, 5));
      expect(await limit.take('a', 6)).toMatchObject({
        allowed: false,
        remaining: 5,
        retryAfterMs: Number.POSITIVE_INFINITY,
      });
      await limit.take('a', 1);
      expect(await limit.take('a', 6)).toMatchObject({
        allowed: false,
        remaining: 4,
        retryAfterMs: Number.POSITIVE_INFINITY,
      });
      expect(await limit.take('a', 4)).toMatchObject({ allowed: true, remaining: 0 });
    });

    test('a request for zero units returns the remaining ones', async () => {
      const limit = limitOf(newPolicy(HARDLY, 5));
      expect(await limit.take('a', 0)).toMatchObject({
        allowed: true,
        remaining: 5,
        refillMs: 0,
        resetMs: 0,
      });
      await limit.take('a', 5);
      expect(await limit.take('a', 0)).toMatchObject({ allowed: true, remaining: 0 });
    });

    test('separates keys, and one key under two policies', async () => {
      const [one, other] = [limitOf(newPolicy(HARDLY, 1)), limitOf(newPolicy(HARDLY, 1))];
      expect((await one.take('a', 1)).allowed).toBe(true);
      expect((await one.take('b', 1)).allowed).toBe(true);
      expect((await other.take('a', 1)).allowed).toBe(true);
      expect((await one.take('a', 1)).allowed).toBe(false);
    });

    test.each(['', 'ö\n\u0000%', 'x'.repeat(10_000)])('takes any key (%#)', async (key) => {
      const limit = limitOf(newPolicy(HARDLY, 1));
      expect((await limit.take(key, 1)).allowed).toBe(true);
      expect((await limit.take(key, 1)).allowed).toBe(false);
    });

    test('returns each unit at its time, neither sooner nor later', async () => {
      const limit = limitOf(newPolicy(HARDLY, 3));
      await limit.take('a', 3);
      await engine.advance(UNIT_MS - MINUTE_MS);
      expect(await limit.take('a', 1)).toMatchObject({ allowed: false, remaining: 0 });
      await engine.advance(MINUTE_MS);
      expect(await limit.take('a', 1)).toMatchObject({ allowed: true, remaining: 0 });
      await engine.advance(2 * UNIT_MS);
      expect(await limit.take('a', 0)).toMatchObject({ remaining: 2 });
    });

    test('saves no more than a burst, however long the pause', async () => {
      const limit = limitOf(newPolicy(HARDLY, 3));
      await limit.take('a', 3);
      await engine.advance(100 * UNIT_MS);
      expect(await limit.take('a', 1)).toMatchObject({ allowed: true, remaining: 2 });
    });

    test('ignores debts from before the clock was set back', async () => {
      const limit = limitOf(newPolicy(HARDLY, 3));
      await limit.take('a', 1);
      await engine.advance(-1_000 * UNIT_MS);
      expect(near(await limit.take('a', 1))).toEqual({ retry: 1, refill: 1, reset: 3 });
    });

    test('counts for all instances together: parallel requests get one burst', async () => {
      const limits = limitsOf(newPolicy(HARDLY, 25));
      const asked = Array.from({ length: 120 }, (_, index) =>
        (limits[index % limits.length] as RateLimit).take('a', 1),
      );
      const answers = await Promise.all(asked);
      expect(answers.filter(({ allowed }) => allowed)).toHaveLength(25);
      expect(new Set(answers.filter(({ allowed }) => allowed).map(({ remaining }) => remaining)).size).toBe(
        25,
      );
    });

    test('over any time, all instances together grant the burst and the rate, and no unit more', async () => {
      const [unitsPerSecond, burst, wanted] = [200, 10, 100];
      const limits = limitsOf(newPolicy(unitsPerSecond, burst));
      const startedAtMs = performance.now();
      let given = 0;
      let lastAtMs = startedAtMs;
      await Promise.all(
        limits.map((limit) =>
          until(
            async () => {
              if (given < wanted && (await limit.take('a', 1)).allowed) {
                given += 1;
                lastAtMs = performance.now();
              }
              return given;
            },
            (seen) => seen >= wanted,
          ),
        ),
      );
      expect(given).toBeLessThanOrEqual(burst + (unitsPerSecond * (lastAtMs - startedAtMs)) / 1_000);
    });

    test('a refusal reports the true waiting time', async () => {
      const limit = limitOf(newPolicy(2, 1));
      await limit.take('a', 1);
      const askedAtMs = performance.now();
      const { retryAfterMs } = await limit.take('a', 1);
      expect(retryAfterMs).toBeGreaterThan(0);
      await until(
        () => limit.take('a', 1),
        ({ allowed }) => allowed,
      );
      // Rounded up to a whole millisecond.
      expect(performance.now() - askedAtMs).toBeGreaterThanOrEqual(retryAfterMs - 1);
      expect(retryAfterMs).toBeLessThanOrEqual(500);
    });

    test.each([-1, 1.5, Number.NaN])('%d units are a mistake of the caller', async (units) => {
      await expect(async () => limitOf(newPolicy(1, 1)).take('a', units)).rejects.toThrow(RangeError);
    });
  });
};

/** In units, because some time passes between two requests. */
const near = ({ retryAfterMs, refillMs, resetMs }: Taken) => ({
  retry: Math.round(retryAfterMs / UNIT_MS),
  refill: Math.round(refillMs / UNIT_MS),
  reset: Math.round(resetMs / UNIT_MS),
});

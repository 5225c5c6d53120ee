import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { openRedisArrivals } from '#adapters/redis/arrivals.ts';
import { createRateLimit } from '#edge/rate-limit/gcra.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { openRateLimits } from '#process/engines/open-rate-limits.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { until } from '../../testing/until.ts';
import { redisMissing, startRedis } from '../engines/redis.ts';
import { captureLog } from '../serve.ts';
import { type RateLimitEngine, testRateLimits } from './rate-limit-contract.ts';

const PROCESSES = 3;

/** Moves every arrival the opposite way, because the server has its own clock. */
const SHIFT = `
  for _, key in ipairs(redis.call('KEYS', '*')) do
    redis.call('SET', key, string.format('%.0f', redis.call('GET', key) - ARGV[1]), 'KEEPTTL')
  end`;

const openRedis = async (): Promise<RateLimitEngine> => {
  await using opening = new AsyncDisposableStack();
  const { url } = opening.use(await startRedis());
  const open = async () =>
    opening.use(await openRedisArrivals({ url, installation: 'one', log: captureLog().log }));
  const instances = await Promise.all(Array.from({ length: PROCESSES }, open));
  const client = new Redis(url);
  opening.defer(() => client.disconnect());
  const resources = opening.move();
  return {
    instances,
    advance: async (ms) => void (await client.eval(SHIFT, 0, ms * 1_000)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

if (redisMissing !== undefined)
  process.stderr.write(`Rate limits in Redis are not tested: ${redisMissing}.\n`);

describe.skipIf(redisMissing !== undefined)('with a real Redis', () => {
  testRateLimits('Redis', openRedis);

  test('a key expires when it has no effect any more', async () => {
    await using server = await startRedis();
    await using arrivals = await openRedisArrivals({
      url: server.url,
      installation: 'one',
      log: captureLog().log,
    });
    const client = new Redis(server.url);
    try {
      await createRateLimit(arrivals, { name: 'p', unitsPerSecond: 2, burst: 5 }).take('a', 2);
      const [key = ''] = await client.keys('*');
      expect(key).toMatch(/^annals:rate-limit:one:[\w-]{43}$/);
      expect(await client.pttl(key)).toBeLessThanOrEqual(1_000);
      await until(
        () => client.dbsize(),
        (size) => size === 0,
      );
    } finally {
      client.disconnect();
    }
  });

  test('two installations that share a server do not share their limits', async () => {
    await using server = await startRedis();
    const { log } = captureLog();
    for (const installation of ['one', 'other']) {
      await using arrivals = await openRedisArrivals({ url: server.url, installation, log });
      const limit = createRateLimit(arrivals, { name: 'p', unitsPerSecond: 0.001, burst: 1 });
      expect(await limit.take('a', 1)).toMatchObject({ allowed: true });
    }
  });

  test('the script is sent again after Redis has forgotten it', async () => {
    await using server = await startRedis();
    await using arrivals = await openRedisArrivals({
      url: server.url,
      installation: 'one',
      log: captureLog().log,
    });
    const limit = createRateLimit(arrivals, { name: 'p', unitsPerSecond: 0.001, burst: 3 });
    const client = new Redis(server.url);
    try {
      await limit.take('a', 1);
      await client.script('FLUSH');
      expect(await limit.take('a', 1)).toMatchObject({ allowed: true, remaining: 1 });
    } finally {
      client.disconnect();
    }
  });

  test('a wrong password is refused at the start, in one sentence without it', async () => {
    await using server = await startRedis({ password: 'right' });
    const { log, logged } = captureLog();
    await using limits = await openRateLimits({
      url: server.url,
      installation: 'one',
      log,
      clock: REAL_TIME,
    });
    expect((await limits.of({ name: 'p', unitsPerSecond: 1, burst: 1 }).take('a', 1)).allowed).toBe(true);
    expect(logged()).toBe('');
    for (const url of [server.url.replace(':right@', ':wrong@'), server.url.replace(':right@', '')]) {
      const refusal = await openRateLimits({ url, installation: 'one', log, clock: REAL_TIME }).catch(
        (error: unknown) => error,
      );
      expect(refusal).toBeInstanceOf(StartRefused);
      expect(String(refusal)).toMatch(
        /The Redis of RATE_LIMIT_URL refuses the connection \((WRONGPASS|NOAUTH).*\): set its user and password\.$/,
      );
      expect(String(refusal)).not.toContain('wrong');
    }
  });

  test('a Redis that starts later than this process is used as soon as it is up', async () => {
    await using server = await startRedis();
    await server.kill();
    const { log, logged } = captureLog();
    await using limits = await openRateLimits({
      url: server.url,
      installation: 'one',
      log,
      clock: REAL_TIME,
    });
    expect(logged()).toContain('Redis does not answer yet');
    const limit = limits.of({ name: 'p', unitsPerSecond: 1, burst: 1_000_000 });
    expect((await limit.take('a', 1)).allowed).toBe(true);
    await server.start();
    await until(
      async () => {
        await limit.take('a', 1);
        return logged();
      },
      (text) => text.includes('Rate limits are shared again.'),
    );
  });
});

import { demandRedis } from '#shared/demand-redis.ts';
import type { Log } from '#shared/log.ts';
import { type Arrivals, createRateLimit } from './gcra.ts';
import { memoryArrivals } from './memory/arrivals.ts';
import { surviveOutages } from './outages.ts';
import type { RateLimits } from './rate-limit.ts';

/** Opens the rate limits that a URL names: `memory:`, `postgres:…`, or `redis:…`. Only the engine in use is loaded. */
export const openRateLimits = async ({ url, log }: { url: string; log: Log }): Promise<RateLimits> => {
  const arrivals = await openArrivals(url, log);
  return {
    of: (policy) => createRateLimit(arrivals, policy),
    [Symbol.asyncDispose]: () => arrivals[Symbol.asyncDispose](),
  };
};

const openArrivals = async (url: string, log: Log): Promise<Arrivals> => {
  const [scheme] = url.split(':', 1);
  switch (scheme) {
    case 'memory':
      return memoryArrivals();
    case 'postgres':
    case 'postgresql': {
      const { openPostgresArrivals } = await import('./postgres/arrivals.ts');
      return surviveOutages(await openPostgresArrivals({ url, log }), { log });
    }
    case 'redis':
    case 'rediss': {
      const { openRedisArrivals } = await import('./redis/arrivals.ts');
      await demandRedis(url, 'RATE_LIMIT_URL');
      return surviveOutages(await openRedisArrivals({ url, log }), { log });
    }
    default:
      throw new Error(`rate limits cannot be kept at ${scheme}: – only at memory:, postgres:, and redis:`);
  }
};

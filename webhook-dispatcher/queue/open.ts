import { demandRedis } from '#adapters/redis/demand-redis.ts';
import { loadEngine } from '#shared/load-engine.ts';
import type { DeliveryQueue, OpenedQueue } from './delivery-queue.ts';

/** Opens the queue of a URL: `postgres://…` or `redis://…`. Only the engine in use is loaded. */
export const openDeliveryQueue = async (options: OpenedQueue): Promise<DeliveryQueue> => {
  const [scheme] = options.url.split(':', 1);
  switch (scheme) {
    case 'postgres':
    case 'postgresql': {
      const { openPostgresDeliveryQueue } = await import('./postgres.ts');
      return openPostgresDeliveryQueue(options);
    }
    case 'redis':
    case 'rediss': {
      const { openRedisDeliveryQueue } = await loadEngine('Redis', () => import('./redis.ts'));
      await demandRedis(options.url, 'JOB_QUEUE_URL');
      return openRedisDeliveryQueue(options);
    }
    default:
      throw new Error(`the webhook queue cannot be at ${scheme}: use postgres: or redis:`);
  }
};

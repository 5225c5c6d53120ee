import { pino } from 'pino';
import { describe } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openDeliveryQueue } from '../../webhook-dispatcher/queue/open.ts';
import { redisMissing, startRedis } from '../engines/redis.ts';
import { testDeliveryQueue } from './delivery-queue-contract.ts';

if (redisMissing !== undefined)
  process.stderr.write(`The queue of webhooks in Redis is not tested: ${redisMissing}.\n`);

describe.skipIf(redisMissing !== undefined)('in Redis', () => {
  testDeliveryQueue('Redis', async () => {
    const redis = await startRedis();
    return {
      open: (name) =>
        openDeliveryQueue({ url: redis.url, name, log: pino({ level: 'silent' }), clock: REAL_TIME }),
      [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
    };
  });
});

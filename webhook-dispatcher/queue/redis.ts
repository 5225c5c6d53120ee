import { createRedisBackend, withBackend } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import { REDIS_CONNECTION, SILENCE_MAX_MS } from '#adapters/redis/redis-connection.ts';
import { createDeliveryQueue, QUEUE, type RunJob, withBackoff } from './bullmq.ts';
import type { DeliveryQueue, OpenedQueue } from './delivery-queue.ts';
import { reportTroubles } from './troubles.ts';

const { Queue, Worker } = withBackend((...given: Parameters<typeof createRedisBackend>) =>
  withBackoff(createRedisBackend(...given)),
);

/** A worker waits silently for jobs for ten seconds at most. */
const WORKER_SILENCE_MAX_MS = 30_000;
const PREFIX = 'annals';

const connecting = { ...REDIS_CONNECTION, connectionName: 'annals-webhooks' } satisfies RedisOptions;

/** Opens the queue in Redis, which may start later and lose everything. */
export const openRedisDeliveryQueue = async ({
  url,
  name,
  log,
  clock,
}: OpenedQueue): Promise<DeliveryQueue> => {
  const troubles = reportTroubles({ engine: 'Redis', log, clock, check: () => queue.getWaitingCount() });
  // Enqueuing fails fast, and leaves the rest to the next sweep.
  const forQueue = new Redis(url, {
    ...connecting,
    socketTimeout: SILENCE_MAX_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
  });
  const forWorkers = new Redis(url, {
    ...connecting,
    socketTimeout: WORKER_SILENCE_MAX_MS,
    maxRetriesPerRequest: null,
  });
  for (const each of [forQueue, forWorkers]) each.on('error', troubles.report);
  const queue = new Queue<RunJob>(name, {
    ...QUEUE,
    connection: forQueue,
    prefix: PREFIX,
  });
  return createDeliveryQueue({
    queue,
    createWorker: (process, options) =>
      new Worker<RunJob>(name, process, { ...options, connection: forWorkers, prefix: PREFIX }),
    troubles,
    resources: {
      async [Symbol.asyncDispose]() {
        for (const each of [forQueue, forWorkers]) each.disconnect();
      },
    },
  });
};

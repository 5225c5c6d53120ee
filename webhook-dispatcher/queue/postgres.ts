import { createPostgresBackend, DEFAULT_SCHEMA, runMigrations, withBackend } from 'bullmq';
import { openPool } from '#shared/database/pool.ts';
import { createDeliveryQueue, patient, QUEUE, type RunJob } from './bullmq.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { OpenedQueue } from './open.ts';
import { tellOfTroubles } from './troubles.ts';

const { Queue, Worker } = withBackend((...given: Parameters<typeof createPostgresBackend>) => patient(createPostgresBackend(...given)));

/** A worker keeps one for itself, by which it hears of jobs. */
const CONNECTIONS_MAX = 6;

/** Opens the queue in PostgreSQL, in the schema of BullMQ. */
export const openPostgresDeliveryQueue = async ({ url, name, log }: OpenedQueue): Promise<DeliveryQueue> => {
  await using opening = new AsyncDisposableStack();
  const pool = opening.use(openPool({ url: inSchema(url), applicationName: 'annals-webhooks', connectionsMax: CONNECTIONS_MAX }));
  // Its types leave no room for a pool, which it takes.
  const connection = pool as unknown as string;
  const client = await pool.connect();
  try {
    await runMigrations(client, DEFAULT_SCHEMA);
  } finally {
    client.release();
  }
  const queue = new Queue<RunJob>(name, { ...QUEUE, connection });
  const resources = opening.move();
  return createDeliveryQueue({
    queue,
    createWorker: (process, options) => new Worker<RunJob>(name, process, { ...options, connection }),
    troubles: tellOfTroubles({ engine: 'PostgreSQL', log, check: () => queue.getWaitingCount() }),
    resources,
  });
};

/** With a pool of ours, BullMQ takes the schema that is its default, and finds its tables by the search path alone. */
const inSchema = (url: string): string => {
  const withSchema = new URL(url);
  const given = withSchema.searchParams.get('options');
  withSchema.searchParams.set('options', `${given === null ? '' : `${given} `}-c search_path=${DEFAULT_SCHEMA}`);
  return withSchema.href;
};

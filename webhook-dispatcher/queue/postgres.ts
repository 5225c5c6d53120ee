import { createPostgresBackend, DEFAULT_SCHEMA, runMigrations, withBackend } from 'bullmq';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { NotReady } from '#shared/not-ready.ts';
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
  const functions = await readFunctions(pool);
  const queue = new Queue<RunJob>(name, { ...QUEUE, connection });
  const resources = opening.move();
  return createDeliveryQueue({
    queue,
    createWorker: (process, options) => new Worker<RunJob>(name, process, { ...options, connection }),
    troubles: tellOfTroubles({ engine: 'PostgreSQL', log, check: () => queue.getWaitingCount() }),
    resources,
    demandWhole: () => demandFunctions(pool, functions),
  });
};

/** With a pool of ours, BullMQ takes the schema that is its default, and finds its tables by the search path alone. */
const inSchema = (url: string): string => {
  const withSchema = new URL(url);
  const given = withSchema.searchParams.get('options');
  withSchema.searchParams.set('options', `${given === null ? '' : `${given} `}-c search_path=${DEFAULT_SCHEMA}`);
  return withSchema.href;
};

/** BullMQ does everything by functions. They are there after its migrations, unless somebody took them away since those were noted as done. */
const readFunctions = async (pool: Pool): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    'select oid::regprocedure::text as name from pg_proc where pronamespace = to_regnamespace($1)',
    [DEFAULT_SCHEMA],
  );
  return rows.map(({ name }) => name);
};

/** As they are found by whoever calls them. */
const demandFunctions = async (pool: Pool, functions: readonly string[]): Promise<void> => {
  const { rows } = await pool.query<{ gone: number }>(
    'select count(*) as gone from unnest($1::text[]) name where to_regprocedure(name) is null',
    [functions],
  );
  if (functions.length === 0 || rows[0]?.gone !== 0) throw new NotReady(NO_FUNCTIONS);
};

const NO_FUNCTIONS = 'The job queue lacks functions in the database: drop the schema bullmq and start anew, nothing is lost by that.';

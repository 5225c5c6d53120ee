import { setTimeout as delay } from 'node:timers/promises';
import { createPostgresBackend, DEFAULT_SCHEMA, runMigrations, withBackend } from 'bullmq';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { isThroughPooler } from '#shared/database/session.ts';
import { NotReady } from '#shared/not-ready.ts';
import { createDeliveryQueue, QUEUE, type RunJob, withBackoff } from './bullmq.ts';
import type { DeliveryQueue, OpenedQueue } from './delivery-queue.ts';
import { reportTroubles } from './troubles.ts';

type Opened = Parameters<typeof createPostgresBackend>;

/** A job whose notification was lost has its webhook found by the sweeper, within seconds. */
const WAIT_MAX_S = 30;

const notified = withBackend((...given: Opened) => withBackoff(createPostgresBackend(...given), WAIT_MAX_S));
/**
 * Notifications do not work through a pooler, so the engine polls; without options it names no connection to
 * keep.
 */
const polling = withBackend((name: Opened[0], options: Opened[1]) =>
  withPolling(withBackoff(createPostgresBackend(name, options))),
);

/** A worker keeps one of them to listen for jobs. */
const CONNECTIONS_MAX = 6;
const POLL_MS = 250;

/** Opens the queue in PostgreSQL, in the schema of BullMQ. */
export const openPostgresDeliveryQueue = async ({
  url,
  name,
  log,
  clock,
}: OpenedQueue): Promise<DeliveryQueue> => {
  await using opening = new AsyncDisposableStack();
  // Given a pool, BullMQ uses its default schema, and finds its tables by the search path only.
  // The queue may lose everything, so that nothing of it waits for the disk.
  const settings = { search_path: DEFAULT_SCHEMA, synchronous_commit: 'off' };
  const pool = opening.use(
    openPool({ url, applicationName: 'annals-webhooks', connectionsMax: CONNECTIONS_MAX, settings, clock }),
  );
  // BullMQ accepts a pool, but its types do not.
  const connection = pool as unknown as string;
  const client = await pool.connect();
  const { Queue, Worker } = isThroughPooler(client) ? polling : notified;
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
    createWorker: (process, options) =>
      new Worker<RunJob>(name, process, { ...options, drainDelay: WAIT_MAX_S, connection }),
    troubles: reportTroubles({ engine: 'PostgreSQL', log, clock, check: () => queue.getWaitingCount() }),
    resources,
    demandWhole: () => demandFunctions(pool, functions),
  });
};

/** Replaces the wait for notifications by polling. */
const withPolling = <Looking extends ReturnType<typeof createPostgresBackend>>(engine: Looking): Looking => {
  engine.waitForJob = async (seconds) => {
    await delay(Math.min(POLL_MS, seconds * 1_000));
    return { member: '', score: 0 };
  };
  return engine;
};

/**
 * BullMQ works through SQL functions. They exist after its migrations, unless somebody dropped them later.
 * They are checked by name only, because a later release may change arguments.
 */
const readFunctions = async (pool: Pool): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    'select distinct proname::text as name from pg_proc where pronamespace = to_regnamespace($1)',
    [DEFAULT_SCHEMA],
  );
  return rows.map(({ name }) => name);
};

const demandFunctions = async (pool: Pool, functions: readonly string[]): Promise<void> => {
  const { rows } = await pool.query<{ gone: number }>(
    `select count(*) as gone from unnest($1::text[]) name
     where not exists (select from pg_proc where proname = name and pronamespace = to_regnamespace($2))`,
    [functions, DEFAULT_SCHEMA],
  );
  if (functions.length === 0 || rows[0]?.gone !== 0) throw new NotReady(NO_FUNCTIONS);
};

const NO_FUNCTIONS =
  'The job queue lacks functions in the database: drop the schema bullmq and restart; this loses nothing.';

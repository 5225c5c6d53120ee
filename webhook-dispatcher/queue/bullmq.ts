import { setTimeout as delay } from 'node:timers/promises';
import type { BulkJobOptions, IQueueBackend, WorkerOptions } from 'bullmq';
import type { WebhookId } from '#kernel/base/brands.ts';
import { NotReady } from '#shared/not-ready.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { Troubles } from './troubles.ts';

/** The data of a job; everything else is in the ledger. */
export type RunJob = { readonly webhookId: WebhookId };

type Closable = { close(): Promise<void>; on(event: 'error', listener: (error: Error) => void): unknown };
type QueuedRun = { readonly name: string; readonly data: RunJob; readonly opts: BulkJobOptions };

/** The common part of the engines, whose BullMQ types are not assignable to each other. */
type Engine = {
  readonly queue: Closable & {
    addBulk(jobs: QueuedRun[]): Promise<unknown>;
    getWaitingCount(): Promise<number>;
  };
  createWorker(
    process: (job: { readonly data: RunJob }) => Promise<void>,
    options: typeof WORKER & { concurrency: number },
  ): Closable;
  readonly troubles: Troubles;
  readonly resources: AsyncDisposable;
  /** Throws if the engine lacks something that it had. */
  demandWhole?(): Promise<void>;
};

/**
 * Jobs of a dead worker end within the sum of both. Nothing waits for that: the sweeper finds their webhooks
 * as soon as their runs have ended.
 */
const LOCK_MS = 15_000;
const STALLED_CHECK_MS = 15_000;

/**
 * How long a worker waits for a notification before it looks by itself, unless its engine waits for longer. Redis
 * waits for no longer.
 */
const WAIT_MAX_S = 10;

const WORKER = {
  drainDelay: WAIT_MAX_S,
  lockDuration: LOCK_MS,
  stalledInterval: STALLED_CHECK_MS,
  // However often workers die over it: the ledger decides when nothing is left to do.
  maxStalledCount: 1_000_000,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
} satisfies Partial<WorkerOptions>;

/** Nobody reads BullMQ’s event stream. */
const EVENTS_MAX = 100;
export const QUEUE = { streams: { events: { maxLen: EVENTS_MAX } } };

/** While a job is active, the latest job of the same name waits for its end. */
const jobOf = (webhookId: WebhookId, name = `webhook-${webhookId}`): QueuedRun => ({
  name: 'run',
  data: { webhookId },
  opts: { deduplication: { id: name, keepLastIfActive: true }, removeOnComplete: true, removeOnFail: true },
});

const JOBS_AT_ONCE_MAX = 500;
/** Until it is connected, BullMQ would wait for ever. */
const ENQUEUE_MAX_MS = 3_000;
/** Longer than runs take to end; BullMQ would wait for an engine that does not answer. */
const CLOSE_WORKER_MAX_MS = 6_000;
const CLOSE_QUEUE_MAX_MS = 1_000;
const REST_MS = 1_000;

const inTime = async <Answer>(asked: Promise<Answer>, maxMs: number): Promise<Answer> => {
  const waiting = new AbortController();
  const late = delay(maxMs, undefined, { signal: waiting.signal, ref: false }).then(() => {
    throw new Error(`the queue did not respond within ${maxMs} ms`);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    waiting.abort();
    late.catch(() => {});
    asked.catch(() => {});
  }
};

/**
 * Slows down failures, because a worker retries at once, and limits waits, because a failure may lose a job’s
 * notification.
 */
export const withBackoff = <Patient extends Pick<IQueueBackend, 'moveToActive' | 'waitForJob'>>(
  engine: Patient,
  waitMaxS = WAIT_MAX_S,
): Patient => {
  const moveToActive = engine.moveToActive.bind(engine);
  const waitForJob = engine.waitForJob.bind(engine);
  engine.moveToActive = async (...asked) => {
    try {
      return await moveToActive(...asked);
    } catch (error) {
      await delay(REST_MS);
      throw error;
    }
  };
  engine.waitForJob = (seconds) => waitForJob(Math.min(seconds, waitMaxS));
  return engine;
};

/** A delivery queue on BullMQ, for either engine. */
export const createDeliveryQueue = ({
  queue,
  createWorker,
  troubles,
  resources,
  demandWhole,
}: Engine): DeliveryQueue => {
  // Without a listener, an error would end the process.
  queue.on('error', troubles.report);
  const add = async (jobs: readonly QueuedRun[]): Promise<void> => {
    for (let first = 0; first < jobs.length; first += JOBS_AT_ONCE_MAX)
      await inTime(queue.addBulk(jobs.slice(first, first + JOBS_AT_ONCE_MAX)), ENQUEUE_MAX_MS);
  };
  return {
    enqueue: (webhookIds) => add(webhookIds.map((webhookId) => jobOf(webhookId))),
    takeOver: (unattended) =>
      add(unattended.map(({ webhookId, epoch }) => jobOf(webhookId, `webhook-${webhookId}-after-${epoch}`))),
    async work(run, { concurrency }) {
      const worker = createWorker(({ data }) => run(data.webhookId), { ...WORKER, concurrency });
      worker.on('error', troubles.report);
      return {
        [Symbol.asyncDispose]: () => inTime(worker.close(), CLOSE_WORKER_MAX_MS).catch(troubles.report),
      };
    },
    waiting: () => queue.getWaitingCount(),
    async check() {
      await queue.getWaitingCount();
      await demandWhole?.();
      // Workers poll continuously: if they fail, everything fails.
      if (troubles.isLasting()) throw new NotReady('The webhook queue fails: see the log of the process.');
    },
    async [Symbol.asyncDispose]() {
      troubles[Symbol.dispose]();
      await inTime(queue.close(), CLOSE_QUEUE_MAX_MS).catch(() => {});
      await resources[Symbol.asyncDispose]();
    },
  };
};

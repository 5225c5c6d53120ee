import { setTimeout as delay } from 'node:timers/promises';
import type { BulkJobOptions, WorkerOptions } from 'bullmq';
import type { WebhookId } from '#shared/brands.ts';
import type { DeliveryQueue } from './delivery-queue.ts';

/** What a job holds: the ledger knows the rest. */
export type RunJob = { readonly webhookId: WebhookId };

type Closable = { close(): Promise<void>; on(event: 'error', listener: (error: Error) => void): unknown };
type QueuedRun = { readonly name: string; readonly data: RunJob; readonly opts: BulkJobOptions };

/** What the engines have in common, whose types in BullMQ are not assignable to each other. */
type Engine = {
  readonly queue: Closable & { addBulk(jobs: QueuedRun[]): Promise<unknown>; getWaitingCount(): Promise<number> };
  createWorker(process: (job: { readonly data: RunJob }) => Promise<void>, options: typeof WORKER & { concurrency: number }): Closable;
  onError(error: Error): void;
  readonly resources: AsyncDisposable;
};

/** Of a worker that died, the jobs are taken over within the sum of both. */
const LOCK_MS = 15_000;
const STALLED_CHECK_MS = 10_000;

const WORKER = {
  lockDuration: LOCK_MS,
  stalledInterval: STALLED_CHECK_MS,
  // However often workers die over it: the ledger decides when there is nothing left to do.
  maxStalledCount: 1_000_000,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
} satisfies Partial<WorkerOptions>;

/** What happened to jobs nobody reads. */
const EVENTS_MAX = 100;
export const QUEUE = { streams: { events: { maxLen: EVENTS_MAX } } };

/** While one is run, the latest that comes for the same webhook waits for its end. */
const jobOptions = (webhookId: WebhookId): BulkJobOptions => ({
  deduplication: { id: `webhook-${webhookId}`, keepLastIfActive: true },
  removeOnComplete: true,
  removeOnFail: true,
});

const JOBS_AT_ONCE_MAX = 500;
/** Before it is connected, BullMQ would wait for ever. */
const ENQUEUE_MAX_MS = 3_000;

const inTime = async (queued: Promise<unknown>): Promise<void> => {
  const waiting = new AbortController();
  const late = delay(ENQUEUE_MAX_MS, undefined, { signal: waiting.signal, ref: false }).then(() => {
    throw new Error(`the queue has not answered within ${ENQUEUE_MAX_MS} ms`);
  });
  try {
    await Promise.race([queued, late]);
  } finally {
    waiting.abort();
    late.catch(() => {});
    queued.catch(() => {});
  }
};

/** Deliveries over a queue of BullMQ, whichever engine it is on. */
export const createDeliveryQueue = ({ queue, createWorker, onError, resources }: Engine): DeliveryQueue => {
  // Without a listener, an error would end the process.
  queue.on('error', onError);
  return {
    async enqueue(webhookIds) {
      for (let first = 0; first < webhookIds.length; first += JOBS_AT_ONCE_MAX) {
        const some = webhookIds.slice(first, first + JOBS_AT_ONCE_MAX);
        await inTime(queue.addBulk(some.map((webhookId) => ({ name: 'run', data: { webhookId }, opts: jobOptions(webhookId) }))));
      }
    },
    async work(run, { concurrency }) {
      const worker = createWorker(({ data }) => run(data.webhookId), { ...WORKER, concurrency });
      worker.on('error', onError);
      return { [Symbol.asyncDispose]: () => worker.close() };
    },
    waiting: () => queue.getWaitingCount(),
    async [Symbol.asyncDispose]() {
      await queue.close();
      await resources[Symbol.asyncDispose]();
    },
  };
};

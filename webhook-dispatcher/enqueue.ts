import type { WebhookId } from '#kernel/base/brands.ts';
import { untilDisposed } from '#shared/clock/repeat.ts';
import type { Log } from '#shared/log.ts';
import type { DeliveryQueue, Unattended } from './queue/delivery-queue.ts';

/** Enqueues in the background, without waiting: the sweeper finds what could not be enqueued. */
export type Enqueuer = AsyncDisposable & { enqueue(webhookIds: readonly WebhookId[]): void };

export const createEnqueuer = ({
  queue,
  log,
}: {
  readonly queue: Pick<DeliveryQueue, 'enqueue'>;
  readonly log: Log;
}): Enqueuer => {
  let waiting = new Set<WebhookId>();
  let queueing: Promise<void> | undefined;
  let isFailing = false;
  const onFailure = (err: unknown): void => {
    if (!isFailing)
      log.warn({ err }, 'Webhooks could not be enqueued; the sweeper will find them in the ledger.');
    isFailing = true;
  };
  const onSuccess = (): void => {
    if (isFailing) log.info('Webhooks are enqueued again.');
    isFailing = false;
  };
  const queueAll = async (): Promise<void> => {
    while (waiting.size > 0) {
      const webhookIds = [...waiting];
      waiting = new Set();
      await queue.enqueue(webhookIds).then(onSuccess, onFailure);
    }
    queueing = undefined;
  };
  return {
    enqueue(webhookIds) {
      for (const webhookId of webhookIds) waiting.add(webhookId);
      queueing ??= queueAll();
    },
    async [Symbol.asyncDispose]() {
      await queueing;
    },
  };
};

type Sweeper = {
  /** Finds webhooks with due deliveries and no run. */
  find(): Promise<readonly Unattended[]>;
  takeOver: DeliveryQueue['takeOver'];
  /** Waits until there may be some. */
  wait(signal: AbortSignal): Promise<void>;
  readonly log: Log;
};

/** Enqueues webhooks whose deliveries have become due, or that the queue has lost. */
export const startSweeping = ({ find, takeOver, wait, log }: Sweeper): AsyncDisposable => {
  let isFailing = false;
  const sweep = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        const unattended = await find();
        if (unattended.length > 0) await takeOver(unattended);
        if (isFailing) log.info('Webhooks with due deliveries are found and enqueued again.');
        isFailing = false;
      } catch (err) {
        if (!signal.aborted && !isFailing)
          log.warn({ err }, 'Webhooks with due deliveries could not be found or enqueued; this is retried.');
        isFailing = true;
      }
      await wait(signal);
    }
  };
  return untilDisposed(sweep);
};

import type { WebhookId } from '#shared/brands.ts';
import type { Log } from '#shared/log.ts';
import type { DeliveryQueue } from './queue/delivery-queue.ts';

/** Queues behind the back of whoever has something to send: what could not be queued is found by the sweeper. */
export type Enqueuer = AsyncDisposable & { enqueue(webhookIds: readonly WebhookId[]): void };

export const createEnqueuer = ({ queue, log }: { readonly queue: Pick<DeliveryQueue, 'enqueue'>; readonly log: Log }): Enqueuer => {
  let waiting = new Set<WebhookId>();
  let queueing: Promise<void> | undefined;
  let isFailing = false;
  const onFailure = (err: unknown): void => {
    if (!isFailing) log.warn({ err }, 'Webhooks could not be queued; they are found in the ledger instead.');
    isFailing = true;
  };
  const onSuccess = (): void => {
    if (isFailing) log.info('Webhooks are queued again.');
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

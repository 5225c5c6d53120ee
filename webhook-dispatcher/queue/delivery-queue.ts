import type { WebhookId } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';

export type OpenedQueue = {
  readonly url: string;
  /** The name of the installation, if several share one engine. */
  readonly name: string;
  readonly log: Log;
  readonly clock: Clock;
};

/**
 * Distributes webhooks with due deliveries to the workers of all processes. It may lose everything: the
 * ledger is the truth, and webhooks with due deliveries and no run are enqueued again.
 */
export type DeliveryQueue = AsyncDisposable & {
  /**
   * Enqueues a run for each webhook: soon, or after its active run. Webhooks that already wait are not
   * enqueued twice.
   */
  enqueue(webhookIds: readonly WebhookId[]): Promise<void>;

  /**
   * Enqueues a run soon, whatever the queue contains for it: a dead worker’s run may count as active for a
   * while.
   */
  takeOver(unattended: readonly Unattended[]): Promise<void>;

  /** Starts workers with this concurrency. Disposal waits for active runs. */
  work(
    run: (webhookId: WebhookId) => Promise<void>,
    options: { readonly concurrency: number },
  ): Promise<AsyncDisposable>;

  /** The number of waiting jobs; throws if the engine does not answer. */
  waiting(): Promise<number>;

  /** Throws if nothing could be enqueued now; for `/readyz`. */
  check(): Promise<void>;
};

/** A webhook without a run; it is enqueued once per epoch of its last run, however often it is found. */
export type Unattended = { readonly webhookId: WebhookId; readonly epoch: number };

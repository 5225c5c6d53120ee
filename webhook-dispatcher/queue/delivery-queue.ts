import type { WebhookId } from '#shared/brands.ts';
import type { Log } from '#shared/process/log.ts';

export type OpenedQueue = {
  readonly url: string;
  /** Of the installation, where several share one engine. */
  readonly name: string;
  readonly log: Log;
};

/**
 * Hands webhooks that have something to send to the workers of all processes. It may lose everything: the
 * ledger is the truth, and whatever is due there without a run is handed over again.
 */
export type DeliveryQueue = AsyncDisposable & {
  /**
   * Has each be run once from now on: soon, or once the run that is under way has ended; never a second time
   * for those that wait.
   */
  enqueue(webhookIds: readonly WebhookId[]): Promise<void>;

  /**
   * Has each be run soon, whatever is there of it: a run may count as under way for as long as nobody misses
   * its worker.
   */
  takeOver(unattended: readonly Unattended[]): Promise<void>;

  /** Runs so many at once, until it is disposed of, which waits for those that are under way. */
  work(
    run: (webhookId: WebhookId) => Promise<void>,
    options: { readonly concurrency: number },
  ): Promise<AsyncDisposable>;

  /** How many wait for a worker; it throws where the engine does not answer. */
  waiting(): Promise<number>;

  /** Throws where it could not hand anything over now; for `/readyz`. */
  check(): Promise<void>;
};

/**
 * A webhook that nobody runs; by the epoch of its last run it is handed over once, however often it is found.
 */
export type Unattended = { readonly webhookId: WebhookId; readonly epoch: number };

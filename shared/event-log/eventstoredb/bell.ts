import { setTimeout as delay } from 'node:timers/promises';
import { type AllStreamSubscription, END, type EventStoreDBClient } from '@eventstore/db-client';
import type { Position } from '#shared/brands.ts';
import { Doorbell } from '#shared/doorbell.ts';
import { START } from '../event-log.ts';
import { positionOf } from './record.ts';

const REOPEN_MS = 20;
const REOPEN_MAX_MS = 1_000;
const IDLE_LOOK_MS = 60_000;

type Waiting = { readonly after: Position };

/**
 * Rings when something was stored after the position at which a follower waits.
 *
 * It hears so from a live subscription to everything, which is only a hint: the server drops a subscriber that lags a little,
 * several times a second under load, a server that stops ends it without an error, and it never resumes.
 * So it is opened only when a follower has caught up and waits, read only as long as one waits, and opened again whenever it has ended.
 */
export class LiveBell extends Doorbell implements AsyncDisposable {
  readonly #client: EventStoreDBClient;
  readonly #closed = new AbortController();
  readonly #waiting = new Set<Waiting>();
  /** Rung when somebody begins to wait, for the subscription to be read on. */
  readonly #awaited = new Doorbell();
  /** The last that was heard of. */
  latest: Position = START;
  #listening: Promise<void> | undefined;

  constructor(client: EventStoreDBClient) {
    super();
    this.#client = client;
  }

  /** Waits for something stored after a position, for a ring after `heard`, for the time to run out, or for the signal. */
  async waitAfter(after: Position, heard: number, { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }): Promise<void> {
    if (this.latest > after) return;
    this.#listening ??= this.#listen();
    const waiting = { after };
    this.#waiting.add(waiting);
    this.#awaited.ring();
    await this.wait(heard, timeoutMs, signal);
    this.#waiting.delete(waiting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    await this.#listening;
  }

  async #listen(): Promise<void> {
    let reopenMs = REOPEN_MS;
    while (!this.#closed.signal.aborted) {
      await this.#someoneWaits();
      const wasLive = await this.#listenOnce();
      reopenMs = wasLive ? REOPEN_MS : Math.min(reopenMs * 2, REOPEN_MAX_MS);
      await delay(reopenMs, undefined, { signal: this.#closed.signal }).catch(() => {});
    }
  }

  /** Listens until the subscription ends, for whatever reason, and answers whether it was live at all. */
  async #listenOnce(): Promise<boolean> {
    if (this.#closed.signal.aborted) return false;
    const subscription = this.#client.subscribeToAll({ fromPosition: END });
    const end = () => endSubscription(subscription);
    this.#closed.signal.addEventListener('abort', end);
    let wasLive = false;
    // Without a listener of its own, an error that comes late would end the process.
    subscription.on('error', () => {});
    subscription.on('confirmation', () => {
      wasLive = true;
      // Whatever was stored between the follower's last look and now.
      this.ring();
    });
    try {
      for await (const { event } of subscription) if (event) await this.#hear(positionOf(event));
    } catch {
      // Too slow, or the server is away, or closed: followers look now and then unasked, and it is opened again.
    } finally {
      this.#closed.signal.removeEventListener('abort', end);
      end();
    }
    return wasLive;
  }

  /** While nobody waits, nothing more is taken from the server, which has better things to do then. */
  async #hear(position: Position): Promise<void> {
    await this.#someoneWaits();
    this.latest = position;
    if ([...this.#waiting].every(({ after }) => after >= position)) return;
    this.#waiting.clear();
    this.ring();
  }

  async #someoneWaits(): Promise<void> {
    while (this.#waiting.size === 0 && !this.#closed.signal.aborted)
      await this.#awaited.wait(this.#awaited.heard, IDLE_LOOK_MS, this.#closed.signal);
  }
}

/** To leave the loop over a subscription, or to destroy it, would keep its call open on the server. */
const endSubscription = (subscription: AllStreamSubscription): void => {
  subscription.destroy();
  subscription.unsubscribe().catch(() => {});
};

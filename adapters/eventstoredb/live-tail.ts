import type { Position } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { type Seen, START } from '#shared/event-log/event-log.ts';
import { notifyLater } from '#shared/event-log/notify-later.ts';
import { type LogPage, Tail } from '#shared/event-log/tail.ts';
import { Notifier } from '#shared/notifier.ts';
import { isEventOf, type Neighbours } from './neighbours.ts';
import { NO_PREFIX } from './own-streams.ts';
import { endSubscription, type ReceivedOwn, subscribeOwn } from './own-subscription.ts';
import type { Reader } from './read.ts';
import type { ReadConnection } from './read-connection.ts';
import { type Decoding, isOfTransaction, positionOf, type StoredEvent, toEvent } from './record.ts';

const REOPEN_MS = 5;
const REOPEN_MAX_MS = 1_000;

type LiveReader = Pick<Reader, 'connection' | 'clock' | 'prefix' | 'neighbours' | 'authentic'>;

/** Until it is open, followers poll, less often the longer that takes. */
const LOOKS_EVERY = 4;

const IDLE_LOOK_MS = 60_000;

/**
 * After so many records that no follower has waited for, all are busy with earlier ones: pages are cheaper
 * then.
 */
const UNAWAITED_MAX = 2_000;

/**
 * The end of the log. While followers wait there, a live subscription to everything adds its records to their
 * shared window.
 *
 * The server drops a subscription that lags a little, several times a second under load, and a server that
 * stops ends it without an error. Then followers read pages, and the subscription is opened again after the
 * last record of the window. Only a page that was read after its confirmation shows that both are of one
 * history, and none of its records is accepted before.
 */
export class LiveTail extends Notifier implements AsyncDisposable {
  readonly tail: Tail;
  readonly #connection: ReadConnection;
  readonly #decoding: Decoding;
  readonly #neighbours: Neighbours;
  readonly #clock: Clock;
  readonly #closed = new AbortController();
  readonly #notifyLater: () => void;
  /** Notified when a follower begins to wait. */
  readonly #awaited: Notifier;
  #waiting = 0;
  #unawaited = 0;
  /** Counts the times when the window may have missed records. */
  #missed = 0;
  #isLive = false;
  /** The server has refused a subscription to the end of the window: a record of others may be gone there. */
  #isRefused = false;
  #reopenMs = REOPEN_MS;
  #listening: Promise<void> | undefined;

  constructor(
    { connection, clock, neighbours, ...decoding }: LiveReader,
    read: (after: Position, seen: Seen | undefined) => Promise<LogPage>,
  ) {
    super(clock);
    this.#connection = connection;
    this.#decoding = decoding;
    this.#neighbours = neighbours;
    this.#clock = clock;
    this.#notifyLater = notifyLater(() => this.notify(), clock);
    this.#awaited = new Notifier(clock);
    this.tail = new Tail({
      clock,
      read,
      notified: () => this.#missed,
      hasNews: (_after, missed) => !this.#isLive || this.#missed !== missed,
      isLive: () => this.#isLive,
    });
  }

  /**
   * Waits for a record after a position, for a subscription that ends after `missed`, for the timeout, or for
   * the signal.
   */
  async waitAfter(
    after: Position,
    missed: number,
    { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  ): Promise<void> {
    this.#unawaited = 0;
    if (this.tail.end > after || this.#missed !== missed) return;
    this.#listening ??= this.#listen();
    this.#waiting += 1;
    this.#awaited.notify();
    await this.wait(
      this.notified,
      this.#isLive ? timeoutMs : Math.min(timeoutMs, this.#reopenMs * LOOKS_EVERY),
      signal,
    );
    this.#waiting -= 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    await this.#listening;
  }

  async #listen(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      await this.#someoneWaits();
      const wasLive = await this.#listenOnce(this.tail.end);
      this.#isLive = false;
      this.#missed += 1;
      this.#reopenMs = wasLive ? REOPEN_MS : Math.min(this.#reopenMs * 2, REOPEN_MAX_MS);
      this.notify();
      await this.#clock.sleep(this.#reopenMs, this.#closed.signal);
    }
  }

  /** Listens until the subscription ends, for whatever reason, and returns whether it was live at all. */
  async #listenOnce(after: Position): Promise<boolean> {
    if (this.#closed.signal.aborted || after === START) return false;
    const from = this.#isRefused ? (this.tail.newest?.position ?? after) : after;
    this.#isRefused = this.#decoding.prefix !== NO_PREFIX;
    const subscription = subscribeOwn(this.#connection.client, this.#decoding.prefix, from);
    const end = () => endSubscription(subscription);
    this.#closed.signal.addEventListener('abort', end);
    let isOver = false;
    // Without a listener of its own, a late error would end the process.
    subscription.on('error', () => {});
    const { promise: joined, resolve, reject } = Promise.withResolvers<void>();
    joined.then(
      () => {
        if (isOver) return;
        this.#isLive = true;
        this.notify();
      },
      () => end(),
    );
    subscription.on('confirmation', () => {
      this.#isRefused = false;
      void this.#join(after).then(resolve, reject);
    });
    let last = after;
    try {
      for await (const received of subscription as AsyncIterable<ReceivedOwn>) {
        this.#connection.onReceived();
        await joined;
        const { event, checkpoint } = received;
        if (event && isOfTransaction(event)) continue;
        // The record at the end of the window is gone, and the log went on from before it.
        if (event && positionOf(event) <= after) break;
        if (event && !this.#take(last, event, await this.#isEvent(event, from))) break;
        if (event) last = positionOf(event);
        // Without an event, nothing would show that both sides of it are of one history.
        if (checkpoint === undefined || checkpoint <= last || !this.tail.newest) continue;
        // A window that was begun anew is behind it, and would refuse all later ones too.
        if (!this.tail.push(last, { position: checkpoint, id: undefined, event: undefined })) break;
        last = checkpoint;
      }
    } catch {
      // Too slow, or the server is unreachable, or closed, or followers will report the failure: they read a
      // page next.
    } finally {
      isOver = true;
      this.#closed.signal.removeEventListener('abort', end);
      end();
    }
    return this.#isLive;
  }

  async #join(after: Position): Promise<void> {
    const { isAway } = await this.tail.read(after, this.tail.newest);
    if (isAway) throw new Error('the page that joins the window and the subscription is incomplete');
  }

  async #isEvent(stored: StoredEvent, seenSince: Position): Promise<boolean> {
    const telling = { prefix: this.#decoding.prefix, neighbours: this.#neighbours };
    const isEvent = isEventOf(telling, stored, seenSince);
    if (isEvent !== undefined) return isEvent;
    await this.#neighbours.lookUp(stored);
    return isEventOf(telling, stored, seenSince) === true;
  }

  /** A node that has not reached the position of the subscription repeats earlier records. */
  #take(last: Position, stored: StoredEvent, isEvent: boolean): boolean {
    const position = positionOf(stored);
    if (position <= last || this.#unawaited >= UNAWAITED_MAX) return false;
    const event = isEvent ? toEvent(stored, this.#decoding, position) : undefined;
    if (!this.tail.push(last, { position, id: stored.id, event })) return false;
    this.#unawaited += 1;
    if (event) this.#notifyLater();
    return true;
  }

  async #someoneWaits(): Promise<void> {
    while (this.#waiting === 0 && !this.#closed.signal.aborted)
      await this.#awaited.wait(this.#awaited.notified, IDLE_LOOK_MS, this.#closed.signal);
  }
}

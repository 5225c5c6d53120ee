import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Doorbell } from '../doorbell.ts';

const CHANNEL = 'annals_event_log';
const RING_AT_MOST_EVERY_MS = 5;
const RECONNECT_MS = 500;

/**
 * Rings in every process when one of them has appended.
 * NOTIFY takes a lock of the whole server until its transaction commits, so it never runs inside an append:
 * it follows the commit, on a connection of its own, at most every few milliseconds. What is lost is caught by polling.
 */
export class PostgresBell extends Doorbell implements AsyncDisposable {
  readonly #url: string;
  readonly #closed = new AbortController();
  readonly #listening: Promise<void>;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(url: string) {
    super();
    this.#url = url;
    this.#listening = this.#listen();
  }

  /** Rings here at once, and elsewhere soon. */
  ringEverywhere(): void {
    this.ring();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // A ring that fails is a hint lost: the connection's end is handled where it is listened on.
      this.#client?.query(`notify ${CHANNEL}`).catch(() => {});
    }, RING_AT_MOST_EVERY_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    clearTimeout(this.#timer);
    await this.#listening;
  }

  async #listen(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      await this.#listenOnce();
      await delay(RECONNECT_MS, undefined, { signal: this.#closed.signal }).catch(() => {});
    }
  }

  /** Listens until the connection ends, for whatever reason. */
  async #listenOnce(): Promise<void> {
    const client = new pg.Client({ connectionString: this.#url, application_name: 'annals-bell', keepAlive: true });
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const onClose = () => end();
    client.on('error', onClose);
    client.on('end', onClose);
    client.on('notification', () => this.ring());
    this.#closed.signal.addEventListener('abort', onClose);
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      this.#client = client;
      // Whatever was appended while nobody listened.
      this.ring();
      await ended;
    } catch {
      // The server is away; the caller tries again, and followers poll meanwhile.
    } finally {
      this.#client = undefined;
      this.#closed.signal.removeEventListener('abort', onClose);
      await client.end().catch(() => {});
    }
  }
}

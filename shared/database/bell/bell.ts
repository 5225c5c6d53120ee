import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Doorbell } from '#shared/doorbell.ts';
import { KEEP_ALIVE_AFTER_MS } from '../pool.ts';
import { processOf } from '../session.ts';

/** A channel of PostgreSQL. */
type BellChannel = 'annals_event_log' | 'annals_read_model';

export type BellOptions = {
  readonly url: string;
  /**
   * An address without a pooler, if there is one at `url`: through a pooler, notifications reach whichever
   * client has the session then.
   */
  readonly directUrl?: string | undefined;
  readonly channel: BellChannel;
};

const RING_AT_MOST_EVERY_MS = 5;
const RECONNECT_MS = 500;
/** The timeout of the server, after which the bell reconnects. */
const ANSWER_WITHIN_MS = 4_000;
const END_WITHIN_MS = 1_000;

/**
 * Notifies every process after one of them commits. NOTIFY takes a lock of the whole server until its
 * transaction commits, so it never runs inside that of the work: it follows the commit, on a connection of
 * its own, at most every few milliseconds. Polling makes up for lost notifications, and replaces all of them
 * if only a pooler leads to the server.
 */
export class PostgresBell extends Doorbell implements AsyncDisposable {
  readonly #options: BellOptions;
  readonly #closed = new AbortController();
  readonly #listening: Promise<void>;
  #client: pg.Client | undefined;
  #due: string | undefined;
  #isAnnouncing = false;

  constructor(options: BellOptions) {
    super();
    this.#options = options;
    this.#listening = this.#listen();
  }

  /**
   * Notifies this process at once, and others soon. Of several messages within a few milliseconds, others get
   * only the last.
   */
  ringEverywhere(message = ''): void {
    this.hear(message);
    this.#due = message;
    if (!this.#isAnnouncing) void this.#announce();
  }

  protected hear(_message: string): void {
    this.ring();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    await this.#listening;
  }

  /**
   * Sends notifications while there are any: the first at once, each later one a little after the response to
   * the one before.
   */
  async #announce(): Promise<void> {
    this.#isAnnouncing = true;
    while (this.#due !== undefined && !this.#closed.signal.aborted) {
      const message = this.#due;
      this.#due = undefined;
      const client = this.#client;
      // A failed notification is merely lost; a connection that does not respond is useless for listening,
      // too.
      const notify = `notify ${this.#options.channel}, ${pg.escapeLiteral(message)}`;
      if (client) await client.query(notify).catch(() => void end(client));
      await delay(RING_AT_MOST_EVERY_MS);
    }
    this.#isAnnouncing = false;
  }

  async #listen(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      if ((await this.#listenOnce()) === 'in vain') return;
      await delay(RECONNECT_MS, undefined, { signal: this.#closed.signal }).catch(() => {});
    }
  }

  /** Listens until the connection ends, for whatever reason. */
  async #listenOnce(): Promise<'in vain' | undefined> {
    const { url, directUrl, channel } = this.#options;
    const client = new pg.Client({
      connectionString: directUrl ?? url,
      application_name: 'annals-bell',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
    });
    const { promise: ended, resolve: onClose } = Promise.withResolvers<void>();
    const close = () => onClose();
    client.on('error', close);
    client.on('end', close);
    this.#closed.signal.addEventListener('abort', close);
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      const [own] = rows;
      if (directUrl === undefined && own?.pid !== processOf(client)) return 'in vain';
      // This process was notified by its own commit.
      client.on('notification', ({ processId, payload = '' }) => {
        if (processId !== own?.pid) this.hear(payload);
      });
      await client.query(`listen ${channel}`);
      this.#client = client;
      // For commits while nobody listened.
      this.ring();
      await ended;
    } catch {
      // The server is unreachable; the caller retries, and waiting readers poll meanwhile.
    } finally {
      this.#client = undefined;
      this.#closed.signal.removeEventListener('abort', close);
      await end(client);
    }
    return undefined;
  }
}

/** A silent server does not confirm the end either; nothing of ours waits for that connection any more. */
const end = async (client: pg.Client): Promise<void> => {
  await Promise.race([client.end().catch(() => {}), delay(END_WITHIN_MS, undefined, { ref: false })]);
};

import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Clock } from '#shared/clock/clock.ts';
import { Notifier } from '#shared/notifier.ts';
import { KEEP_ALIVE_AFTER_MS } from '../pool.ts';
import { pauseMs } from '../reconnection.ts';
import { processOf } from '../session.ts';

type NotifierChannel = 'annals_event_log' | 'annals_read_model';

export type NotifierOptions = {
  readonly url: string;
  /**
   * An address without a pooler, if there is one at `url`: through a pooler, notifications reach whichever
   * client has the session then.
   */
  readonly directUrl?: string | undefined;
  readonly channel: NotifierChannel;
  readonly clock: Clock;
};

const NOTIFY_AT_MOST_EVERY_MS = 5;
/** The timeout of the server, after which the notifier reconnects. */
const ANSWER_WITHIN_MS = 4_000;
const END_WITHIN_MS = 1_000;

/**
 * Notifies every process after one of them commits. NOTIFY takes a lock of the whole server until its
 * transaction commits, so it never runs inside that of the work: it follows the commit, on a connection of
 * its own, at most every few milliseconds. Polling makes up for lost notifications, and replaces all of them
 * if only a pooler leads to the server.
 */
export class PostgresNotifier extends Notifier implements AsyncDisposable {
  readonly #options: NotifierOptions;
  readonly #closed = new AbortController();
  readonly #listening: Promise<void>;
  #client: pg.Client | undefined;
  #due: string | undefined;
  #isAnnouncing = false;

  constructor(options: NotifierOptions) {
    super(options.clock);
    this.#options = options;
    this.#listening = this.#listen();
  }

  /** Whether others can notify this process at present. */
  get isListening(): boolean {
    return this.#client !== undefined;
  }

  /**
   * Notifies this process at once, and others soon. Of several messages within a few milliseconds, others get
   * only the last.
   */
  notifyEverywhere(message = ''): void {
    this.receive(message);
    this.#due = message;
    if (!this.#isAnnouncing) void this.#announce();
  }

  protected receive(_message: string): void {
    this.notify();
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
      await this.#options.clock.sleep(NOTIFY_AT_MOST_EVERY_MS, this.#closed.signal);
    }
    this.#isAnnouncing = false;
  }

  async #listen(): Promise<void> {
    let failures = 0;
    while (!this.#closed.signal.aborted) {
      const ended = await this.#listenOnce();
      if (ended === 'in vain') return;
      failures = ended === 'listened' ? 1 : failures + 1;
      await this.#options.clock.sleep(pauseMs(failures), this.#closed.signal);
    }
  }

  /** Listens until the connection ends, for whatever reason. */
  async #listenOnce(): Promise<'in vain' | 'listened' | 'unreachable'> {
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
        if (processId !== own?.pid) this.receive(payload);
      });
      // A notification is only a hint, but its commit would wait for the disk like any other.
      await client.query(`set synchronous_commit = off; listen ${channel}`);
      this.#client = client;
      // For commits while nobody listened.
      this.notify();
      await ended;
      return 'listened';
    } catch {
      // The caller retries, and waiting readers poll meanwhile.
      return 'unreachable';
    } finally {
      this.#client = undefined;
      this.#closed.signal.removeEventListener('abort', close);
      await end(client);
    }
  }
}

/** A silent server does not confirm the end either; nothing of ours waits for that connection any more. */
const end = async (client: pg.Client): Promise<void> => {
  await Promise.race([client.end().catch(() => {}), delay(END_WITHIN_MS, undefined, { ref: false })]);
};

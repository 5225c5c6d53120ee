import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { isSilence, PoolExhausted } from './failures.ts';
import { noting, type Pending, Reconnection } from './reconnection.ts';
import { clientWith, type SessionSettings, settle } from './session.ts';
import { TYPES } from './types.ts';
import { endUnanswered, UNANSWERED_MS } from './unanswered.ts';

export type PoolOptions = {
  readonly url: string;
  /** Shown by `pg_stat_activity`, for operators. */
  readonly applicationName: string;
  readonly connectionsMax: number;
  /** Idle connections to keep open: the next statement need not connect, and they need no idle timer. */
  readonly connectionsMin?: number;
  /**
   * The timeout of a statement on the server. A server that has not responded by `SILENCE_MS` later counts as
   * unreachable.
   */
  readonly statementTimeoutMs?: number;
  readonly settings?: SessionSettings;
  /** For pauses between attempts to connect. */
  readonly clock?: Clock;
  /** How long a statement may be without a response before the server is asked whether it works on it. */
  readonly unansweredMs?: number;
  /** Whether the address may lead to several servers: then none is asked about statements of another. */
  readonly hasSeveralServers?: boolean;
};

const STATEMENT_TIMEOUT_MS = 30_000;
/** A healthy server ends a statement in time by itself, and reports it within this. */
export const SILENCE_MS = 1_000;
const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;
/** Beyond this many waiting callers, the next fails at once instead of after `CONNECT_TIMEOUT_MS`. */
const WAITING_MAX = 2_000;
/** The time that disposal waits for statements in flight, whose results nobody needs any more. */
const END_TIMEOUT_MS = 5_000;

/** One connection, for statements that must share it; code outside the adapters uses this name. */
export type Connection = Pick<pg.ClientBase, 'query'>;

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: boolean | Error) => void,
) => void;

/** Parts of the driver’s pool that its types lack. */
type Internals = {
  readonly _idle: readonly { readonly client: pg.PoolClient & Wired }[];
  readonly _pendingQueue: Pending[];
  newClient(pending: Pending): void;
  _remove(client: pg.PoolClient, removed: () => void): void;
  _pulseQueue(): void;
};
type Wired = { readonly connection: { readonly stream: { destroy(): void } } };

/** Connections to PostgreSQL, ended by the scope that opened them. */
export class Pool extends pg.Pool implements AsyncDisposable {
  readonly #reconnection: Reconnection;
  #ended: Promise<void> | undefined;

  constructor(options: pg.PoolConfig, reconnection: Reconnection) {
    super(options);
    this.#reconnection = reconnection;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    if (this.callersWaiting >= WAITING_MAX) {
      const refusal = new PoolExhausted(WAITING_MAX);
      if (callback === undefined) return Promise.reject(refusal);
      process.nextTick(() => callback(refusal, undefined, () => {}));
      return undefined;
    }
    if (callback === undefined) return super.connect();
    super.connect(callback);
    return undefined;
  }

  get #internals(): Internals {
    return this as unknown as Internals;
  }

  /** Called by the driver if a caller needs a further connection. */
  newClient(pending: Pending): void {
    if (this.#reconnection.isUnreachable) this.#reconnection.wait(pending);
    else this.connectFor(pending);
  }

  connectFor(pending: Pending, timeoutMs = this.options.connectionTimeoutMillis): void {
    const { connectionTimeoutMillis } = this.options;
    // The driver reads it when the attempt begins.
    this.options.connectionTimeoutMillis = timeoutMs;
    try {
      (pg.Pool.prototype as unknown as Internals).newClient.call(this, pending);
    } finally {
      this.options.connectionTimeoutMillis = connectionTimeoutMillis;
    }
  }

  /** Serves callers that waited for the server, with as many connections as the pool may have. */
  resume(waiting: readonly Pending[]): void {
    this.#internals._pendingQueue.push(...waiting);
    for (let each = 0; each < this.options.max; each += 1) this.#internals._pulseQueue();
  }

  /** The number of callers that wait for a connection of the pool, or for the server. */
  get callersWaiting(): number {
    return this.waitingCount + this.#reconnection.waitingCount;
  }

  /** Ends connections that nobody uses, because they lead where another one got no response. */
  dropIdle(): void {
    for (const { client } of [...this.#internals._idle]) {
      this.#internals._remove(client, () => this.#internals._pulseQueue());
      // Nothing would confirm its end.
      client.connection.stream.destroy();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    const timeout = new AbortController();
    this.#reconnection.end();
    this.#ended ??= Promise.race([
      this.end(),
      delay(END_TIMEOUT_MS, undefined, { signal: timeout.signal, ref: false }),
    ]).finally(() => timeout.abort());
    return this.#ended;
  }
}

export const openPool = (options: PoolOptions): Pool => {
  const {
    url,
    applicationName,
    connectionsMax,
    connectionsMin = 0,
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
    settings,
  } = options;
  const answerWithinMs = statementTimeoutMs + SILENCE_MS;
  const connectWithinMs = Math.min(CONNECT_TIMEOUT_MS, answerWithinMs);
  const reconnection = new Reconnection({
    clock: options.clock ?? REAL_TIME,
    waitMs: connectWithinMs,
    attempt: (timeoutMs) => pool.connectFor({ callback: (_error, _client, release) => release() }, timeoutMs),
    resume: (waiting) => pool.resume(waiting),
  });
  const pool = new Pool(
    {
      connectionString: url,
      application_name: applicationName,
      max: connectionsMax,
      min: connectionsMin,
      connectionTimeoutMillis: connectWithinMs,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      Client: noting(
        clientWith({ statement_timeout: String(statementTimeoutMs), ...settings }),
        reconnection,
      ),
      onConnect: (client) =>
        settle(client).catch((error: Error) => {
          reconnection.failed(error, client);
          throw error;
        }),
      // The server’s own limit has no effect if the server, or the network to it, is silent.
      query_timeout: answerWithinMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      types: TYPES,
    },
    reconnection,
  );
  // A server that stops ends idle connections; the pool replaces them, and the next caller sees the failure.
  pool.on('error', () => {});
  // The same while a caller holds the connection between two statements: its next one fails, the process
  // lives on.
  pool.on('connect', (client) => client.on('error', () => {}));
  // Once its caller has it, because callers that waited may share it.
  pool.on('connect', () => process.nextTick(() => reconnection.succeeded()));
  pool.on('release', (error) => isSilence(error) && pool.dropIdle());
  if (options.hasSeveralServers !== true) endUnanswered(pool, options.unansweredMs ?? UNANSWERED_MS);
  return pool;
};

/**
 * Sooner than firewalls and load balancers drop idle connections: some stay open for as long as the process
 * runs.
 */
export const KEEP_ALIVE_AFTER_MS = 30_000;

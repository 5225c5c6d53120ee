import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { PoolExhausted } from './failures.ts';
import { clientWith, type SessionSettings, settle } from './session.ts';

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
  /** Further settings of each session. */
  readonly settings?: SessionSettings;
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
export type Connection = pg.ClientBase;

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: boolean | Error) => void,
) => void;

/** Connections to PostgreSQL, ended by the scope that opened them. */
export class Pool extends pg.Pool implements AsyncDisposable {
  #ended: Promise<void> | undefined;

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    if (this.waitingCount >= WAITING_MAX) {
      const refusal = new PoolExhausted(WAITING_MAX);
      if (callback === undefined) return Promise.reject(refusal);
      process.nextTick(() => callback(refusal, undefined, () => {}));
      return undefined;
    }
    if (callback === undefined) return super.connect();
    super.connect(callback);
    return undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    const timeout = new AbortController();
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
  const pool = new Pool({
    connectionString: url,
    application_name: applicationName,
    max: connectionsMax,
    min: connectionsMin,
    connectionTimeoutMillis: Math.min(CONNECT_TIMEOUT_MS, answerWithinMs),
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    Client: clientWith({ statement_timeout: String(statementTimeoutMs), ...settings }),
    onConnect: settle,
    // The server’s own limit has no effect if the server, or the network to it, is silent.
    query_timeout: answerWithinMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: TYPES,
  });
  // A server that stops ends idle connections; the pool replaces them, and the next caller sees the failure.
  pool.on('error', () => {});
  // The same while a caller holds the connection between two statements: its next one fails, the process
  // lives on.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
};

/**
 * Sooner than firewalls and load balancers drop idle connections: some stay open for as long as the process
 * runs.
 */
export const KEEP_ALIVE_AFTER_MS = 30_000;

const INT8 = 20;
const INT8_ARRAY = 1016;
const DATE = 1082;

/** Every int8 of ours is a position, a version, or an id, and all of those are safe integers. */
const safeInteger = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError(`int8 ${text} is beyond the integers that a number holds exactly`);
  return value;
};

/** The driver’s own parsers, which return an int8 as text, except for int8 and days. */
export const typeParser = (oid: number): ((text: string) => unknown) => {
  if (oid === INT8) return safeInteger;
  if (oid === INT8_ARRAY) return safeIntegers;
  // A day has no time zone: the driver would make it midnight here.
  if (oid === DATE) return (text) => text;
  return pg.types.getTypeParser(oid, 'text');
};

const TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    format === 'binary'
      ? pg.types.getTypeParser(oid, 'binary')
      : typeParser(oid)) as typeof pg.types.getTypeParser,
};

const textArray = pg.types.getTypeParser(INT8_ARRAY as typeof INT8, 'text') as (
  text: string,
) => readonly (string | null)[];

const safeIntegers = (text: string): (number | null)[] =>
  textArray(text).map((item) => (item === null ? null : safeInteger(item)));

import type { Socket } from 'node:net';
import type pg from 'pg';
import { ConnectionHangs } from './failures.ts';
import { isThroughPooler, processOf } from './session.ts';

/**
 * How long a statement may be without a response before the server is asked about it. As long as a lease: a
 * leader whose connection hangs fails then, and releases its lease.
 */
export const UNANSWERED_MS = 4_000;

/**
 * The processes that work on a statement. A server that reports no states counts as working. Another pool’s
 * process may have the number that one had on a server before.
 */
const WORKING = `select pid from pg_stat_activity
  where pid = any($1::integer[]) and application_name = current_setting('application_name')
    and coalesce(state, '') not like 'idle%'`;

/** Parts of the driver’s connection that its types lack. */
type Driven = pg.PoolClient & {
  _getActiveQuery(): Query | null | undefined;
  readonly connection: { readonly stream: Socket };
};

/** Several statements at once have no response until all are done. */
type Query = { goesOn?(): void };

/** A statement that waits for its response, and what was received before it began to wait. */
type Waiting = { readonly query: Query; readonly bytesRead: number; readonly sinceMs: number };

/**
 * Ends connections of a pool on which a statement waits while the server does not work on it: the server was
 * replaced, or the network has lost the connection without a word. Slow statements continue, because the server
 * says that it works on them. It asks over a new connection, since any older one may hang as well. Poolers hide
 * the processes; there the statement’s timeout decides.
 */
export const endUnanswered = (pool: pg.Pool, unansweredMs: number): void => {
  const busy = new Map<pg.PoolClient, Waiting | undefined>();
  let timer: NodeJS.Timeout | undefined;
  pool.on('acquire', (client) => {
    busy.set(client, undefined);
    timer ??= setInterval(look, unansweredMs / 2).unref();
  });
  pool.on('release', (_error, client) => busy.delete(client));
  pool.on('remove', (client) => busy.delete(client));
  let isAsking = false;
  const look = async (): Promise<void> => {
    // A pool that nobody uses wakes no process.
    if (pool.ending || busy.size === 0) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    const nowMs = performance.now();
    const suspects: pg.PoolClient[] = [];
    for (const [client, before] of busy) {
      const waiting = waitingOf(client, before, nowMs);
      busy.set(client, waiting);
      if (waiting !== undefined && nowMs - waiting.sinceMs >= unansweredMs) suspects.push(client);
    }
    if (suspects.length === 0 || isAsking) return;
    isAsking = true;
    try {
      const working = await findWorking(pool, suspects, unansweredMs);
      for (const client of suspects) {
        const before = busy.get(client);
        if (before === undefined || waitingOf(client, before, nowMs) !== before) continue;
        if (working.has(processOf(client))) {
          before.query.goesOn?.();
          // The server is asked again after the same time.
          busy.set(client, { ...before, sinceMs: performance.now() });
        } else (client as Driven).connection.stream.destroy(new ConnectionHangs());
      }
    } catch {
      // The server is unreachable: the statement’s timeout decides, and the next look asks again.
    } finally {
      isAsking = false;
    }
  };
};

/** The same object for as long as nothing has arrived. */
const waitingOf = (
  client: pg.PoolClient,
  before: Waiting | undefined,
  nowMs: number,
): Waiting | undefined => {
  const driven = client as Driven;
  const query = driven._getActiveQuery();
  if (query === null || query === undefined || isThroughPooler(client)) return undefined;
  const { bytesRead } = driven.connection.stream;
  if (before?.query === query && before.bytesRead === bytesRead) return before;
  return { query, bytesRead, sinceMs: nowMs };
};

const findWorking = async (
  pool: pg.Pool,
  suspects: readonly pg.PoolClient[],
  unansweredMs: number,
): Promise<ReadonlySet<number>> => {
  const { Client, ...options } = pool.options as pg.PoolOptions & { readonly Client: typeof pg.Client };
  const limits = { connectionTimeoutMillis: unansweredMs, query_timeout: unansweredMs };
  const client = new Client({ ...options, ...limits });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>(WORKING, [suspects.map(processOf)]);
    return new Set(rows.map(({ pid }) => pid));
  } finally {
    client.end().catch(() => {});
  }
};

// Takes minutes, so it starts first.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { startEmbeddedPostgres } from '#adapters/embedded-postgres/embedded.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { openPostgresEventLog } from '#shared/event-log/postgres/postgres-event-log.ts';
import { READ_LOG } from '#shared/event-log/postgres/read.ts';
import { RETRY_BUDGET_MS } from '#shared/event-log/postgres/retry.ts';
import { scaled } from '../../testing/load.ts';
import { openMacs } from '../engines/authentic-log.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase } from '../engines/database.ts';
import { pauseBackends } from '../engines/pause-backends.ts';
import { describeEventLog } from './event-log-contract.ts';
import { anEvent, aStream, type Disturbance, type LogEngine, readAll, version } from './event-log-engine.ts';

/**
 * A server of its own, because it is crashed. Acknowledged commits must survive that, so it syncs before it
 * answers.
 */
const startEngine = async (): Promise<LogEngine> => {
  await using opening = new AsyncDisposableStack();
  const { path: dataDir } = opening.use(await temporaryDataDir());
  const { url } = opening.use(await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } }));
  const authentic = opening.use(await openMacs(url));
  const resources = opening.move();
  return {
    open: () => openPostgresEventLog({ url, clock: REAL_TIME, authentic }),
    restart: () => crash(url),
    disturbances: disturbancesOn(url),
    countLooks() {
      const spy = vi.spyOn(pg.Client.prototype, 'query');
      const isLook = ([query]: readonly unknown[]) =>
        typeof query === 'object' && Object(query).name === READ_LOG.name;
      return { count: () => spy.mock.calls.filter(isLook).length, [Symbol.dispose]: () => spy.mockRestore() };
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** A backend that dies by SIGKILL makes the server drop every connection and recover from its log. */
const crash = async (url: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const [backend] = rows;
  if (backend) process.kill(backend.pid, 'SIGKILL');
  await client.end().catch(() => {});
};

const disturbancesOn = (url: string): readonly Disturbance[] => [
  { name: 'a slow committer', during: (signal) => appendSlowly(url, 'commit', signal) },
  { name: 'appends that are rolled back late', during: (signal) => appendSlowly(url, 'rollback', signal) },
  {
    name: 'an open transaction with an old id in another database',
    during: (signal) => keepOpen(url.replace(/\/annals(\?|$)/, '/postgres$1'), signal),
  },
  {
    name: 'an open transaction with an old id in the same database',
    during: (signal) => keepOpen(url, signal),
  },
  {
    name: 'connections of the writers that fall silent for a while',
    during: (signal) => pauseWriters(url, signal),
  },
];

/** Appends manually, and keeps each transaction open for a while after its event is written. */
const appendSlowly = async (
  url: string,
  end: 'commit' | 'rollback',
  signal: AbortSignal,
): Promise<readonly string[]> => {
  await using client = await connect(url);
  const ids: string[] = [];
  while (!signal.aborted) {
    const event = anEvent();
    await client.query('begin');
    await client.query('select from event_log.append($1, $2, $3, $4, $5, $6, $7, $8)', [
      aStream('slow'),
      '0',
      '1',
      event.id,
      event.type,
      '{}',
      '{}',
      '4',
    ]);
    await delay(20);
    await client.query(end);
    if (end === 'commit') ids.push(event.id);
    await delay(5);
  }
  return ids;
};

const keepOpen = async (url: string, signal: AbortSignal): Promise<readonly string[]> => {
  await using client = await connect(url);
  await client.query('begin isolation level repeatable read');
  await client.query('create temporary table held as select pg_current_xact_id()');
  while (!signal.aborted) await delay(10);
  await client.query('rollback');
  return [];
};

/** One pause exceeds the timeout of an append, so that it is abandoned, and may still be stored later. */
const pauseWriters = async (url: string, signal: AbortSignal): Promise<readonly string[]> => {
  while (!signal.aborted) {
    using _paused = await pauseBackends(url, 'annals-log-append');
    await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
  return [];
};

const PAUSE_MS = 5_000;

const connect = async (url: string): Promise<pg.Client & AsyncDisposable> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
};

describeEventLog('PostgreSQL', startEngine);

test('a silent connection is abandoned, and the log continues on another', async ({ skip }) => {
  skip(process.env.TEST_PGBOUNCER !== undefined, 'a pooler lends its sessions to connections of any name');
  await using database = await createDatabase();
  await using log = await openPostgresEventLog({ url: database.url, clock: REAL_TIME });
  const stream = aStream();
  await log.append(stream, NO_STREAM, [anEvent({ n: 1 })]);
  await readAll(log, stream);
  using writer = await pauseBackends(database.url, 'annals-log-append');
  using readers = await pauseBackends(database.url, 'annals-log-read');
  expect([writer.pids.length, readers.pids.length]).toEqual([1, 1]);
  const startedAtMs = performance.now();
  const [appended, read] = await Promise.all([
    log.append(stream, version(1), [anEvent({ n: 2 })]),
    readAll(log, stream),
  ]);
  expect(appended.version).toBe(2);
  expect(read.length).toBeGreaterThanOrEqual(1);
  expect(performance.now() - startedAtMs).toBeLessThan(scaled(RETRY_BUDGET_MS));
});

import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '#shared/database/embedded.ts';
import { openPostgresEventLog } from '#shared/event-log/postgres/postgres-event-log.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { describeEventLog } from './event-log-contract.ts';
import { anEvent, aStream, type Disturbance, type LogEngine } from './event-log-engine.ts';

/** A server of its own, because it is crashed. What it acknowledged must survive that, so it commits before it answers. */
const startEngine = async (): Promise<LogEngine> => {
  await using opening = new AsyncDisposableStack();
  const { path: dataDir } = opening.use(await temporaryDataDir());
  const { url } = opening.use(await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } }));
  const resources = opening.move();
  return {
    open: () => openPostgresEventLog({ url }),
    restart: () => crash(url),
    disturbances: disturbancesOn(url),
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
  { name: 'an open transaction with an old id in the same database', during: (signal) => keepOpen(url, signal) },
];

/** Appends by hand, and keeps each transaction open for a while after its event is written. */
const appendSlowly = async (url: string, end: 'commit' | 'rollback', signal: AbortSignal): Promise<readonly string[]> => {
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

const connect = async (url: string): Promise<pg.Client & AsyncDisposable> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
};

describeEventLog('PostgreSQL', startEngine);

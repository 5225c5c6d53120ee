import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { createStates } from '../command/states.ts';
import { publishing } from '../domain/publishing.ts';
import { deciderOf } from '../kernel/decide/decider.ts';
import type { Kind } from '../kernel/registry/registry.ts';
import type { EventId, StreamName, UserId, Version } from '../shared/brands.ts';
import { createChangeReader } from '../shared/change-stream/changes.ts';
import { openPool } from '../shared/database/pool.ts';
import type { RecordedEvent } from '../shared/event-log/event-log.ts';
import { openEventLog } from '../shared/event-log/open.ts';
import { createCodec } from '../shared/events/codec.ts';
import { parseMasterKey } from '../shared/keys/master-key.ts';
import { openPostgresKeyStore } from '../shared/keys/postgres/postgres-key-store.ts';
import { createSnapshots, migrateSnapshots } from '../shared/snapshots/snapshots.ts';
import { createDatabase } from './database.ts';
import { report } from './figures.ts';
import { numbersOf, readOptions } from './options.ts';
import { MASTER_KEY } from './projection-log.ts';
import { runBenchOnPostgres } from './run-bench.ts';
import { median, printTable } from './table.ts';
import { yardstickUs } from './yardstick.ts';

// What one stream costs by its length: a process that does not know it loads its state for a command, by a fold from the first event and from a snapshot; and
// reads a page of its history, the first one and the next. Processor time of this process, medians of several runs; the database is on the same machine.
const options = readOptions({ events: ['1000,100000,1000000', '1000,20000'], runs: ['5', '5'] });
const RUNS = Number(options.runs);
const PAGE = 100;
const LOOK_AGAIN_MS = 20;

const article = publishing.kinds.article as Kind;
const decider = deciderOf(publishing, article) as never;

/** Edits of one article, as a command would have appended them. */
const fill = async (url: string, { stream, count, template }: { stream: StreamName; count: number; template: readonly object[] }) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const [drafted, edited] = template.map((each) => JSON.stringify(each));
  await client.query(
    `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes)
     select n, $1, n, gen_random_uuid(), e->>'type', (e->'data')::json, (e->'metadata')::json, 400
     from generate_series(1, $2::int) n cross join lateral (select case when n = 1 then $3::jsonb else $4::jsonb end as e) events`,
    [stream, count, drafted, edited],
  );
  await client.query('vacuum analyze event_log.event');
  await client.end();
};

const cpuMs = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

/** The median of some runs in milliseconds, and to the guard each beside the yardstick. */
const medianOf = async (name: string, runs: number, work: () => Promise<number>): Promise<string> => {
  const all: number[] = [];
  const rounds: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const ms = await work();
    all.push(ms);
    rounds.push(yardstickUs() / (ms * 1_000));
  }
  report(`${name}, beside the yardstick: CPU`, rounds);
  return median(all).toFixed(1);
};

const measure = async (url: string, count: number): Promise<readonly string[]> => {
  const stream = 'article-8001' as StreamName;
  const events = `a stream of ${count.toLocaleString('en')}`;
  await using eventLog = await openEventLog({ url });
  await using pool = openPool({ url, applicationName: 'annals-bench', connectionsMax: 4 });
  const masterKey = parseMasterKey(MASTER_KEY);
  await using keys = await openPostgresKeyStore({ pool, masterKey });
  const codec = createCodec({ keys, domain: publishing });
  const context = {
    actor: 'user:7001',
    client: null,
    request: 'bench',
    correlation: 'bench',
    causation: null,
    at: '2026-01-01T00:00:00.000Z',
  } as const;
  const of = { articleId: 8001, authorId: 7001 as UserId };
  const template = await codec.encodeAll(stream, context, [
    {
      id: crypto.randomUUID() as EventId,
      event: { type: 'article.drafted', data: { ...of, title: 'One', body: 'Text. '.repeat(40), tags: [], cover: null } } as never,
    },
    { id: crypto.randomUUID() as EventId, event: { type: 'article.edited', data: { ...of, title: 'Another' } } as never },
  ]);
  await fill(url, { stream, count, template });
  await migrateSnapshots(pool);
  await pool.query('create schema if not exists read_model; create table read_model.parked (stream text, position bigint)');
  const snapshots = createSnapshots({ pool, keys, masterKey, eventLog });
  const load = (more: object) => cpuMs(() => createStates({ log: eventLog, codec, ...more }).load(decider, stream));
  const folded = await medianOf(`fold of ${events}`, count > 100_000 ? 1 : RUNS, () => load({}));
  // Saved behind the first load.
  await load({ snapshots });
  while ((await pool.query('select from snapshots.state')).rowCount === 0) await delay(LOOK_AGAIN_MS);
  const fromSnapshot = await medianOf(`snapshot of ${events}`, RUNS, () => load({ snapshots }));
  const [page] = await Array.fromAsync(eventLog.read(stream, Math.max(1, count - PAGE + 1) as Version));
  const reader = createChangeReader({ eventLog, pool, keys, domain: publishing });
  const read = () => cpuMs(() => reader.ofStream(page as readonly RecordedEvent[], eventLog));
  const first = (await read()).toFixed(1);
  return [count.toLocaleString('en'), folded, fromSnapshot, first, await medianOf(`next page of history of ${events}`, RUNS, read)];
};

await runBenchOnPostgres(async (serverUrl) => {
  const rows: (readonly string[])[] = [];
  for (const count of numbersOf(options.events)) rows.push(await measure(await createDatabase(serverUrl, `long_${count}`), count));
  printTable(['events in one stream, ms of CPU', 'fold', 'from a snapshot', 'page of history', 'the next page'], rows);
});

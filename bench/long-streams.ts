// Over 200 lines, because it is one bench: it fills a log, and measures decisions on long streams.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { createExecutor } from '../command/execute.ts';
import { seededIds } from '../command/handling/execution-context.ts';
import { createStates } from '../command/states.ts';
import { publishing } from '../domain/publishing.ts';
import type { EventId, Position, StreamName, UserId } from '../kernel/base/brands.ts';
import { deciderOf } from '../kernel/decide/decider.ts';
import type { Kind } from '../kernel/registry/registry.ts';
import { openEventLog } from '../process/engines/open-event-log.ts';
import { migrateProjector } from '../projector/migrate.ts';
import { createHistory } from '../query/history/history.ts';
import { createPastOpener } from '../query/time-travel/past.ts';
import { REAL_TIME } from '../shared/clock/real-time.ts';
import { openPool, type Pool } from '../shared/database/pool.ts';
import { PROJECTOR } from '../shared/database/read-model-schemas.ts';
import { createCodec } from '../shared/events/codec.ts';
import { parseMasterKey } from '../shared/keys/master-key.ts';
import { openPostgresKeyStore } from '../shared/keys/postgres/postgres-key-store.ts';
import '../shared/needed/all.ts';
import { tablesOf } from '../shared/read-model/tables.ts';
import { createSnapshots, migrateSnapshots } from '../shared/snapshots/snapshots.ts';
import { createDatabase } from './database.ts';
import { report } from './figures.ts';
import { numbersOf, readOptions } from './options.ts';
import { MASTER_KEY } from './projection-log.ts';
import { runBenchOnPostgres } from './run-bench.ts';
import { median, printTable } from './table.ts';
import { yardstickUs } from './yardstick.ts';

// Measures the cost of one stream by its length, beside very many short ones, in a process that has not read
// it: the state for a command, by a fold from the first event and from a snapshot; a command that follows
// from an event and may have run before; a page of its history from the middle; and time travel. Beforehand,
// one read folds the stream, and leaves snapshots. Reports CPU time of this process, medians of several runs;
// the database is on the same machine.
const options = readOptions({
  events: ['1000,100000,1000000', '1000,20000'],
  streams: ['100000', '1000'],
  runs: ['5', '5'],
});
const RUNS = Number(options.runs);
const PAGE = 20;
const ARTICLE = 8001;
const FIRST_OTHER = 10_000;
const EVENTS_OF_OTHERS = 2;
const LOOK_AGAIN_MS = 20;

const article = publishing.kinds.article as Kind;
const decider = deciderOf(publishing, article) as never;

type Filled = { readonly count: number; readonly template: readonly object[] };

/** Appends edits of one article, as commands would, and edits of others after them. */
const fill = async (url: string, { count, template }: Filled) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const [drafted, edited] = template.map((each) => JSON.stringify(each));
  await client.query(
    `with place as (
       select n, case when n <= $2 then $1 else ${FIRST_OTHER} + (n - $2 - 1) / ${EVENTS_OF_OTHERS} end as id,
         case when n <= $2 then n else 1 + (n - $2 - 1) % ${EVENTS_OF_OTHERS} end as version
       from generate_series(1, $2::int + $5::int) n)
     insert into event_log.event (position, stream, version, id, type, data, metadata, bytes)
     select n, 'article-' || id, version, gen_random_uuid(), e->>'type', jsonb_set(e->'data', '{articleId}', to_jsonb(id))::json, (e->'metadata')::json, 400
     from place cross join lateral (select case when version = 1 then $3::jsonb else $4::jsonb end as e) events`,
    [ARTICLE, count, drafted, edited, Number(options.streams) * EVENTS_OF_OTHERS],
  );
  await client.query('vacuum analyze event_log.event');
  await client.end();
};

/** The part of the read model that histories need. */
const fillReadModel = async (pool: Pool, log: string, count: number) => {
  await migrateProjector(pool);
  await pool.query(`create schema if not exists read_model;
    create table read_model.parked (stream text, position bigint);
    create table read_model.departed (user_id bigint);
    create table read_model.articles (id bigint primary key, version integer)`);
  await pool.query('insert into read_model.articles values ($1, $2)', [ARTICLE, count]);
  await pool.query(
    'insert into public.follower_checkpoint (follower, log, position, epoch) values ($1, $2, $3, 0)',
    [PROJECTOR, log, count],
  );
};

const cpuMs = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

/** The median of some runs in milliseconds; reports each to the guard in units of the yardstick. */
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

const CALLER = { kind: 'system', name: 'bench' } as const;
const free = async () => {};

const measure = async (url: string, count: number): Promise<readonly string[]> => {
  const stream = `article-${ARTICLE}` as StreamName;
  const events = `a stream of ${count.toLocaleString('en')}`;
  await using eventLog = await openEventLog({ url, clock: REAL_TIME });
  await using pool = openPool({ url, applicationName: 'annals-bench', connectionsMax: 4 });
  const masterKey = parseMasterKey(MASTER_KEY);
  await using keys = await openPostgresKeyStore({ pool, masterKey });
  const codec = createCodec({ keys, domain: publishing });
  const metadata = {
    actor: 'user:7001',
    client: null,
    request: 'bench',
    correlation: 'bench',
    causation: null,
    at: '2026-01-01T00:00:00.000Z',
  } as const;
  const of = { articleId: ARTICLE, authorId: 7001 as UserId };
  const template = await codec.encodeAll(stream, metadata, [
    {
      id: crypto.randomUUID() as EventId,
      event: {
        type: 'article.drafted',
        data: { ...of, title: 'One', body: 'Text. '.repeat(40), tags: [], cover: null },
      } as never,
    },
    {
      id: crypto.randomUUID() as EventId,
      event: { type: 'article.edited', data: { ...of, title: 'Another' } } as never,
    },
  ]);
  await fill(url, { count, template });
  await migrateSnapshots(pool);
  await fillReadModel(pool, eventLog.identity, count);
  const snapshots = createSnapshots({ pool, keys, masterKey, eventLog });
  const load = (more: object, of = stream) =>
    cpuMs(() => createStates({ log: eventLog, codec, ...more }).load(decider, of));
  const react = () => {
    const executor = createExecutor({
      log: eventLog,
      codec,
      states: createStates({ log: eventLog, codec, snapshots }),
    });
    const ids = seededIds({ eventSeed: crypto.randomUUID(), firstId: 1 });
    const context = {
      metadata,
      ids,
      ifVersion: undefined,
      unlessVersion: undefined,
      mayBeRepeatAfter: 0 as Position,
    };
    return cpuMs(() => executor.change({ decider, stream, decide: () => ({ events: [] }) }, context));
  };
  const reading = {
    domain: publishing,
    eventLog,
    pool,
    keys,
    codec,
    tables: tablesOf(publishing),
    snapshots,
  };
  const middle = Math.ceil(count / 2);
  const readPage = () =>
    cpuMs(() =>
      createHistory(reading)(
        { kind: 'article', id: ARTICLE, caller: CALLER, charge: free },
        { below: middle, above: undefined, isUpward: false, limit: PAGE },
      ),
    );
  const readThen = () =>
    cpuMs(async () =>
      (await createPastOpener(reading as never)(middle as Position, free)).find('article', ARTICLE),
    );
  const others = await medianOf(`fold of one beside ${events}`, RUNS, () =>
    load({ snapshots }, `article-${FIRST_OTHER}` as StreamName),
  );
  const folded = await medianOf(`fold of ${events}`, count > 100_000 ? 1 : RUNS, () => load({}));
  const once = [await load({ snapshots }), await readPage(), await readThen()]
    .map((ms) => ms.toFixed(0))
    .join(', ');
  // The last snapshot is saved in the background.
  const isSaved = async () =>
    (await pool.query('select from snapshots.fold where version = $1', [count])).rowCount !== 0;
  while (!(await isSaved())) await delay(LOOK_AGAIN_MS);
  const row = [
    ...[count.toLocaleString('en'), others, folded, once],
    await medianOf(`snapshot of ${events}`, RUNS, () => load({ snapshots })),
    await medianOf(`reaction of ${events}`, RUNS, react),
    await medianOf(`page of history of ${events}`, RUNS, readPage),
    await medianOf(`how ${events} was`, RUNS, readThen),
  ];
  const { rows } = await pool.query<{ fold: string; count: number; bytes: number }>(
    'select fold, count(*), sum(length(sealed)) as bytes from snapshots.fold group by fold order by fold',
  );
  for (const { fold, ...kept } of rows)
    console.log(`${events} keeps ${kept.count} snapshots (${fold}) of ${kept.bytes} bytes`);
  return [...row, (process.memoryUsage.rss() / 1_048_576).toFixed(0)];
};

await runBenchOnPostgres(async (serverUrl) => {
  const rows: (readonly string[])[] = [];
  for (const count of numbersOf(options.events))
    rows.push(await measure(await createDatabase(serverUrl, `long_${count}`), count));
  printTable(
    [
      ...[
        'events in one stream, ms of CPU',
        'a short stream beside it',
        'fold',
        'folds that leave snapshots',
        'from a snapshot',
      ],
      ...['reaction', 'page of history', 'how it was', 'MiB'],
    ],
    rows,
  );
});

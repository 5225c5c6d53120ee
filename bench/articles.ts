import { join } from 'node:path';
import { startEventStoreProcess } from '../test/engines/eventstoredb/process.ts';
import { createDatabase, execute } from './database.ts';
import { applyLoad, type Loaded } from './load.ts';
import { numbersOf, readOptions, turnsOf } from './options.ts';
import { startAnnals, startServer, tokenOf } from './processes.ts';
import { untilProjected } from './projected.ts';
import { fillLog, MASTER_KEY } from './projection-log.ts';
import { BARE_TABLE } from './rest/by-hand.ts';
import { runBenchOnPostgres } from './run-bench.ts';
import { type Contender, takeTurns } from './turns.ts';
import { printTurns } from './turns-table.ts';
import { runWriters } from './writers.ts';

// Measures `POST /articles` end to end: Annals as `npm start` runs it, with a token, rights, limits,
// encryption and the projector at work, against Express and Fastify with one INSERT and none of that, and
// against appends to our event log alone. All run on one PostgreSQL server with its durable settings, each in
// a database and a process of its own. The last column compares the cost of a write with that at the first
// number of events.
const options = readOptions({
  seconds: ['4', '0.7'],
  rounds: ['5', '5'],
  // The events that exist beforehand.
  events: ['50000,500000', '20000'],
  connections: ['1,32', '1,32'],
  // `stand-in` also measures ours on EventStoreDB, by a stand-in that stores an append after 3 ms.
  eventstore: ['', ''],
});
const SECOND_MS = 1_000;

const BODY = JSON.stringify({
  title: 'On engines',
  body: 'An analytical one. '.repeat(12),
  tags: ['engines'],
});

const post = (
  url: string,
  connections: number,
  headers: Readonly<Record<string, string>>,
  durationMs: number,
): Promise<Loaded> =>
  applyLoad({
    url: `${url}/articles`,
    method: 'POST',
    body: BODY,
    connections,
    durationMs,
    headers: () => ({ 'content-type': 'application/json', ...headers }),
  });

/** As many articles as the log has. */
const rows = (events: number): string => `insert into bare_article (author_id, title, body, tags)
  select 1, 'Title ' || i, repeat('Some words of a body, ' || i || '. ', 40), array['engines'] from generate_series(1, ${Math.round(events / 6)}) i`;

const APPEND_MS = 3;

/** Its log starts empty. */
const startOnEventStore = async (serverUrl: string, dataDir: string, running: AsyncDisposableStack) => {
  if (options.eventstore === '') return [];
  const { address } = running.use(await startEventStoreProcess({ appendMs: APPEND_MS }));
  const settings = { DATABASE_URL: await createDatabase(serverUrl, 'on_eventstore'), MASTER_KEY };
  return [running.use(await startAnnals(dataDir, { ...settings, EVENT_LOG_URL: address }))];
};

const measureBeside = async (serverUrl: string, dataDir: string, events: number): Promise<void> => {
  const oursUrl = await createDatabase(serverUrl, `ours_${events}`);
  const logUrl = await createDatabase(serverUrl, `log_${events}`);
  const bareUrl = await createDatabase(serverUrl, `bare_${events}`);
  await execute(bareUrl, BARE_TABLE, rows(events), 'vacuum analyze');
  for (const url of [oursUrl, logUrl]) await fillLog(url, events);
  await using ours = await startAnnals(join(dataDir, `annals-${events}`), {
    DATABASE_URL: oursUrl,
    MASTER_KEY,
  });
  await untilProjected(oursUrl);
  await using express = await startServer('./rest/express.ts', [bareUrl]);
  await using fastify = await startServer('./rest/fastify.ts', [bareUrl]);
  await using running = new AsyncDisposableStack();
  const onEventStore = await startOnEventStore(serverUrl, join(dataDir, `eventstore-${events}`), running);
  for (const connections of numbersOf(options.connections)) {
    const authorize = async (on = ours) => ({
      authorization: `Bearer ${await tokenOf(on, 'write:articles')}`,
    });
    const contenders: readonly Contender[] = [
      {
        title: 'ours',
        pid: ours.pid,
        run: async (forMs) => post(ours.url, connections, await authorize(), forMs),
      },
      ...onEventStore.map(
        (on): Contender => ({
          title: 'ours, on the log in EventStoreDB',
          pid: on.pid,
          run: async (forMs) => post(on.url, connections, await authorize(on), forMs),
        }),
      ),
      {
        title: 'Express and INSERT',
        pid: express.pid,
        run: (forMs) => post(express.url, connections, {}, forMs),
      },
      {
        title: 'Fastify and INSERT',
        pid: fastify.pid,
        run: (forMs) => post(fastify.url, connections, {}, forMs),
      },
      {
        title: 'appends alone',
        run: (forMs) =>
          runWriters({
            contender: 'ours',
            url: logUrl,
            writers: connections,
            processes: 1,
            seconds: forMs / SECOND_MS,
          }),
      },
    ];
    const name = `POST /articles, ${connections} connections`;
    printTurns(
      `${name}, ${events.toLocaleString('en')} events`,
      name,
      await takeTurns(contenders, turnsOf(options)),
    );
  }
};

await runBenchOnPostgres(async (serverUrl, folder) => {
  for (const events of numbersOf(options.events)) await measureBeside(serverUrl, folder, events);
});

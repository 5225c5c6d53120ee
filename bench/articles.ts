import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../shared/database/embedded.ts';
import { openPool } from '../shared/database/pool.ts';
import { applyLoad, type Loaded } from './load.ts';
import { startAnnals, startServer, tokenOf } from './processes.ts';
import { fillLog, MASTER_KEY } from './projection-log.ts';
import { BARE_TABLE } from './rest/by-hand.ts';
import { printTable } from './table.ts';
import { type Contender, takeTurns } from './turns.ts';
import { runWriters } from './writers.ts';

// `POST /articles` the whole way: Annals as `npm start` runs it, with a token, rights, limits, encryption, and the projector at work, against
// Express and one INSERT without any of that, and against appends to our event log alone. All on one PostgreSQL server with its durable settings,
// each in a database and a process of its own; the last column compares the cost of a write with that beside the first number of events.
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '5' },
    // What is there already.
    events: { type: 'string', default: '50000,500000' },
    connections: { type: 'string', default: '1,32' },
  },
});
const turns = { rounds: Number(options.rounds), durationMs: Number(options.seconds) * 1_000 };
const SECOND_MS = 1_000;

const BODY = JSON.stringify({ title: 'On engines', body: 'An analytical one. '.repeat(12), tags: ['engines'] });

const post = (url: string, connections: number, headers: Readonly<Record<string, string>>, durationMs: number): Promise<Loaded> =>
  applyLoad({
    url: `${url}/articles`,
    method: 'POST',
    body: BODY,
    connections,
    durationMs,
    headers: () => ({ 'content-type': 'application/json', ...headers }),
  });

const createDatabase = async (serverUrl: string, name: string, statements: readonly string[] = []): Promise<string> => {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await execute(serverUrl, [`create database ${name}`]);
  await execute(url.href, statements);
  return url.href;
};

const openBenchPool = (url: string) => openPool({ url, applicationName: 'annals-bench', connectionsMax: 1, statementTimeoutMs: 600_000 });

const execute = async (url: string, statements: readonly string[]): Promise<void> => {
  await using pool = openBenchPool(url);
  for (const statement of statements) await pool.query(statement);
};

const LOOK_AGAIN_MS = 200;

/** Until what was there before can be read, so that what is measured is the writes alone. */
const untilProjected = async (databaseUrl: string): Promise<void> => {
  await using pool = openBenchPool(databaseUrl);
  const isBehind = async (): Promise<boolean> => {
    const { rows } = await pool.query(
      `select coalesce((select position from public.follower_checkpoint where follower = 'projector'), 0) < (select max(position) from event_log.event) as behind`,
    );
    return rows[0].behind;
  };
  while (await isBehind()) await delay(LOOK_AGAIN_MS);
  await pool.query('vacuum analyze');
};

/** As many articles as the log has. */
const rows = (events: number): string => `insert into bare_article (author_id, title, body, tags)
  select 1, 'Title ' || i, repeat('Some words of a body, ' || i || '. ', 40), array['engines'] from generate_series(1, ${Math.round(events / 6)}) i`;

const costs = new Map<string, number>();

const measure = async (title: string, connections: number, contenders: readonly Contender[]): Promise<void> => {
  const measured = [...(await takeTurns(contenders, turns))];
  const ours = measured[0]?.[1].rate ?? 0;
  printTable(
    [title, 'per second', 'p50 ms', 'p99 ms', 'CPU µs', 'ours is', 'cost'],
    measured.map(([contender, { rate, p50Ms, p99Ms, cpuUs }]) => {
      const key = `${contender.title} ${connections}`;
      if (!costs.has(key)) costs.set(key, 1 / rate);
      return [
        contender.title,
        Math.round(rate).toLocaleString('en'),
        p50Ms.toFixed(2),
        p99Ms.toFixed(2),
        Number.isNaN(cpuUs) ? '' : cpuUs.toFixed(0),
        `${(ours / rate).toFixed(2)} ×`,
        `${(1 / rate / (costs.get(key) ?? 0)).toFixed(2)} ×`,
      ];
    }),
  );
};

const measureBeside = async (serverUrl: string, dataDir: string, events: number): Promise<void> => {
  const oursUrl = await createDatabase(serverUrl, `ours_${events}`);
  const logUrl = await createDatabase(serverUrl, `log_${events}`);
  const bareUrl = await createDatabase(serverUrl, `bare_${events}`, [BARE_TABLE, rows(events), 'vacuum analyze']);
  for (const url of [oursUrl, logUrl]) await fillLog(url, events);
  await using ours = await startAnnals(join(dataDir, `annals-${events}`), { DATABASE_URL: oursUrl, MASTER_KEY });
  await untilProjected(oursUrl);
  await using bare = await startServer('./rest/express.ts', [bareUrl]);
  for (const connections of options.connections.split(',').map(Number)) {
    const authorize = async () => ({ authorization: `Bearer ${await tokenOf(ours, 'write:articles')}` });
    await measure(`${connections} connections, ${events.toLocaleString('en')} events`, connections, [
      { title: 'POST /articles', pid: ours.pid, run: async (forMs) => post(ours.url, connections, await authorize(), forMs) },
      { title: 'Express and INSERT', pid: bare.pid, run: (forMs) => post(bare.url, connections, {}, forMs) },
      {
        title: 'appends alone',
        run: (forMs) => runWriters({ contender: 'ours', url: logUrl, writers: connections, processes: 1, seconds: forMs / SECOND_MS }),
      },
    ]);
  }
};

const dataDir = await mkdtemp(join(tmpdir(), 'annals-bench-'));
await chmod(dataDir, 0o755);
try {
  await using postgres = await startEmbeddedPostgres({ dataDir });
  for (const events of options.events.split(',').map(Number)) await measureBeside(postgres.url, dataDir, events);
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

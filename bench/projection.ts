import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createReadModel } from '../projector/service.ts';
import { startEmbeddedPostgres } from '../shared/database/embedded.ts';
import { openPool } from '../shared/database/pool.ts';
import { fillLog } from './projection-log.ts';
import { printTable } from './table.ts';

// How fast the read model follows from the log: the live projector that starts from nothing, and a rebuild beside it, each in a process with
// little memory, against COPY of the rows that they come to, into the same tables with the same indexes. All on one PostgreSQL server with its
// durable settings, at two sizes of the log; the last column compares the cost of an event.
const { values: options } = parseArgs({
  options: { events: { type: 'string', default: '100000,1000000' }, heap: { type: 'string', default: '96' } },
});

type Measured = { readonly seconds: number; readonly megabytes: number };

const run = async (work: 'catch-up' | 'rebuild', url: string): Promise<Measured> => {
  const child = fork(new URL('./projection-worker.ts', import.meta.url), [`--work=${work}`, `--url=${url}`], {
    // V8 counts its young generation, which grows by itself, against the limit of the whole.
    execArgv: [`--max-old-space-size=${options.heap}`, '--max-semi-space-size=8'],
  });
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`the worker ended with ${code} before it answered`);
  });
  exited.catch(() => {});
  const [measured] = await Promise.race([once(child, 'message'), exited]);
  await exited.catch(() => {});
  return measured as Measured;
};

const TABLES = ['users', 'articles', 'comments'];

/** The server reads the rows from a file of its own: nothing of the copying is ours. */
const copy = async (url: string): Promise<number> => {
  await using pool = openPool({ url, applicationName: 'annals-bench', connectionsMax: 1, statementTimeoutMs: 3_600_000 });
  await createReadModel(pool, 'copied');
  const { rows } = await pool.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
  let milliseconds = 0;
  for (const table of TABLES) {
    const file = `${rows[0]?.folder}/bench-${table}`;
    const columns = await columnsOf(pool, table);
    await pool.query(`copy (select ${columns} from read_model.${table} order by id) to '${file}'`);
    const startedMs = performance.now();
    await pool.query(`copy copied.${table} (${columns}) from '${file}'`);
    milliseconds += performance.now() - startedMs;
  }
  return milliseconds / 1_000;
};

const columnsOf = async (pool: ReturnType<typeof openPool>, table: string): Promise<string> => {
  const { rows } = await pool.query<{ columns: string }>(
    `select string_agg(column_name, ', ' order by ordinal_position) as columns
     from information_schema.columns where table_schema = 'read_model' and table_name = $1 and is_generated = 'NEVER'`,
    [table],
  );
  return rows[0]?.columns ?? '';
};

const execute = async (url: string, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
};

const dataDir = await mkdtemp(join(tmpdir(), 'annals-bench-'));
await chmod(dataDir, 0o755);
try {
  await using server = await startEmbeddedPostgres({ dataDir });
  const first = new Map<string, number>();
  for (const events of String(options.events).split(',').map(Number)) {
    const url = new URL(server.url);
    url.pathname = `/events_${events}`;
    await execute(server.url, `create database events_${events}`);
    await fillLog(url.href, events);
    const caughtUp = await run('catch-up', url.href);
    const rebuilt = await run('rebuild', url.href);
    const copied = await copy(url.href);
    const row = (title: string, seconds: number, megabytes?: number): readonly string[] => {
      const each = seconds / events;
      if (!first.has(title)) first.set(title, each);
      return [
        title,
        seconds.toFixed(1),
        Math.round(events / seconds).toLocaleString('en'),
        `${(copied / seconds).toFixed(2)} ×`,
        megabytes === undefined ? '' : Math.round(megabytes).toString(),
        `${(each / (first.get(title) ?? each)).toFixed(2)} ×`,
      ];
    };
    printTable(
      [`${events.toLocaleString('en')} events`, 'seconds', 'events/s', 'COPY is 1', 'MB at most', 'cost of one'],
      [
        row('catch-up of the live projector', caughtUp.seconds, caughtUp.megabytes),
        row('rebuild', rebuilt.seconds, rebuilt.megabytes),
        row('COPY of the same rows', copied),
      ],
    );
    await execute(server.url, `drop database events_${events}`);
  }
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

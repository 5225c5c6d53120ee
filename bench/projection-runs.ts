import { fork } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { openPool } from '../shared/database/pool.ts';
import { createReadModel } from '../shared/projection/schema.ts';
import { tablesOf } from '../shared/read-model/tables.ts';
import { HISTORIES, type HistoryName } from './histories.ts';
import { cpuUsOfDatabase, statOf } from './turns.ts';

type Work = 'catch-up' | 'rebuild' | 'chain' | 'replay' | 'verify';
type Measured = { readonly seconds: number; readonly megabytes: number; readonly cpuUs: number };
type Run = Measured & {
  /** In all processes of the database, which serves nobody else. */
  readonly databaseUs: number;
};

/** Does a work in a process of its own, with little memory. */
export const run = async (work: Work, url: string, heapMegabytes: string, name: HistoryName = 'publishing'): Promise<Run> => {
  const postmasterPid = await postmasterOf(url);
  const databaseUs = await cpuUsOfDatabase(postmasterPid);
  const child = fork(new URL('./projection-worker.ts', import.meta.url), [`--work=${work}`, `--url=${url}`, `--domain=${name}`], {
    // V8 counts its young generation, which grows by itself, against the limit of the whole.
    execArgv: [`--max-old-space-size=${heapMegabytes}`, '--max-semi-space-size=8'],
  });
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`the worker ended with ${code} before it answered`);
  });
  exited.catch(() => {});
  const [measured] = await Promise.race([once(child, 'message'), exited]);
  await exited.catch(() => {});
  return { ...(measured as Measured), databaseUs: (await cpuUsOfDatabase(postmasterPid)) - databaseUs };
};

/** The parent of whatever process of the database answers. */
const postmasterOf = async (url: string): Promise<number> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const { parentPid } = await statOf(rows[0]?.pid);
  await client.end();
  return parentPid;
};

/** The server reads the rows from a file of its own: nothing of the copying is ours. */
export const copyRows = async (url: string, name: HistoryName = 'publishing'): Promise<number> => {
  const tables = tablesOf(HISTORIES[name].domain);
  await using pool = openPool({ url, applicationName: 'annals-bench', connectionsMax: 1, statementTimeoutMs: 3_600_000 });
  await createReadModel(pool, tables, 'copied');
  const { rows } = await pool.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
  let milliseconds = 0;
  for (const { name: table } of [...tables.ofStreams, ...tables.views]) {
    const file = `${rows[0]?.folder}/bench-${table}`;
    const columns = await columnsOf(pool, table);
    await pool.query(`copy (select ${columns} from read_model.${table} order by 1) to '${file}'`);
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

export const execute = async (url: string, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
};

type Compared = {
  readonly events: number;
  readonly copied: number;
  /** What each work cost of an event the first time, which is what later sizes are held against. */
  readonly first: Map<string, number>;
};

export const HEAD = ['seconds', 'events/s', 'COPY is 1', 'CPU µs, Node', 'PostgreSQL', 'MB at most', 'cost of one'];

/** The line of one work: its time, its rate, beside `COPY`, its memory, and the cost of an event beside that of the first size. */
export const rowsOf =
  ({ events, copied, first }: Compared) =>
  (title: string, { seconds, megabytes, cpuUs, databaseUs }: Partial<Run> & { readonly seconds: number }): readonly string[] => {
    const each = seconds / events;
    const perEvent = (us: number | undefined) => (us === undefined ? '' : (us / events).toFixed(0));
    if (!first.has(title)) first.set(title, each);
    return [
      title,
      seconds.toFixed(1),
      Math.round(events / seconds).toLocaleString('en'),
      `${(copied / seconds).toFixed(2)} ×`,
      perEvent(cpuUs),
      perEvent(databaseUs),
      megabytes === undefined ? '' : Math.round(megabytes).toString(),
      `${(each / (first.get(title) ?? each)).toFixed(2)} ×`,
    ];
  };

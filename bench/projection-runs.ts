import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openPool } from '../shared/database/pool.ts';
import { createReadModel } from '../shared/projection/schema.ts';
import { tablesOf } from '../shared/read-model/tables.ts';
import { createDatabase, execute, postmasterOf } from './database.ts';
import { ratios, report } from './figures.ts';
import { HISTORIES, type HistoryName } from './histories.ts';
import { besideFirst, median, printTable } from './table.ts';
import { cpuUsOfDatabase } from './turns.ts';
import { yardstickUs } from './yardstick.ts';

type Work = 'catch-up' | 'rebuild' | 'chain' | 'replay' | 'verify';
type Measured = { readonly seconds: number; readonly megabytes: number; readonly cpuUs: number };
type Run = Measured & {
  /** Of all processes of the database, which has no other client. */
  readonly databaseUs: number;
};

/** Runs a task in a process of its own, with little memory. */
export const run = async (
  work: Work,
  url: string,
  heapMegabytes: string,
  name: HistoryName = 'publishing',
): Promise<Run> => {
  const postmasterPid = await postmasterOf(url);
  const databaseUs = await cpuUsOfDatabase(postmasterPid);
  const child = fork(
    new URL('./projection-worker.ts', import.meta.url),
    [`--work=${work}`, `--url=${url}`, `--domain=${name}`],
    {
      // V8 counts its young generation, which grows by itself, towards the limit of the whole.
      execArgv: [`--max-old-space-size=${heapMegabytes}`, '--max-semi-space-size=8'],
    },
  );
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`the worker ended with ${code} before it answered`);
  });
  exited.catch(() => {});
  const [measured] = await Promise.race([once(child, 'message'), exited]);
  await exited.catch(() => {});
  return { ...(measured as Measured), databaseUs: (await cpuUsOfDatabase(postmasterPid)) - databaseUs };
};

/** The server reads the rows from its own file, so none of the copying runs in our process. */
const copyRows = async (url: string, name: HistoryName = 'publishing'): Promise<number> => {
  const tables = tablesOf(HISTORIES[name].domain);
  await using pool = openPool({
    url,
    applicationName: 'annals-bench',
    connectionsMax: 1,
    statementTimeoutMs: 3_600_000,
  });
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

const HEAD = ['seconds', 'events/s', 'COPY is 1', 'CPU µs, Node', 'PostgreSQL', 'MB at most', 'cost of one'];

type Compared = {
  readonly events: number;
  /** The seconds of `COPY` in each round. */
  readonly copied: readonly number[];
  /** The microseconds of the yardstick in each round. */
  readonly yardsticks: readonly number[];
};

/**
 * The row of one task: its time, its rate, the ratio to `COPY`, its CPU time and memory, and the time of an
 * event relative to that at the first size.
 */
const rowOf = (
  title: string,
  runs: readonly Run[],
  { events, copied, yardsticks }: Compared,
): readonly string[] => {
  const of = (field: keyof Run): readonly number[] => runs.map((run) => run[field]);
  const perEvent = (field: 'cpuUs' | 'databaseUs') => of(field).map((us) => us / events);
  const each = median(of('seconds')) / events;
  report(`${title}, beside the yardstick: CPU of Node`, ratios(yardsticks, perEvent('cpuUs')));
  report(`${title}, beside the yardstick: CPU of PostgreSQL`, ratios(yardsticks, perEvent('databaseUs')));
  return [
    title,
    median(of('seconds')).toFixed(1),
    Math.round(1 / each).toLocaleString('en'),
    report(`${title}, beside COPY of the same rows: rate`, ratios(copied, of('seconds'))),
    median(perEvent('cpuUs')).toFixed(0),
    median(perEvent('databaseUs')).toFixed(0),
    Math.round(Math.max(...of('megabytes'))).toString(),
    besideFirst(title, each),
  ];
};

type Works = {
  readonly serverUrl: string;
  /** The database that each round copies. */
  readonly template: string;
  readonly events: number;
  readonly rounds: number;
  readonly heapMegabytes: string;
  readonly domain?: HistoryName;
};

/** Runs each task once a round, and `COPY` of the rows, and prints the results. */
export const measureWorks = async (
  works: Readonly<Partial<Record<Work, string>>>,
  given: Works,
): Promise<void> => {
  const { serverUrl, template, events, rounds, heapMegabytes, domain } = given;
  const runs = new Map<string, Run[]>(Object.values(works).map((title) => [title, []]));
  const [copied, yardsticks]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const name = `${template}_${round}`;
    const url = await createDatabase(serverUrl, name, template);
    for (const [work, title] of Object.entries(works))
      runs.get(title)?.push(await run(work as Work, url, heapMegabytes, domain));
    copied.push(await copyRows(url, domain));
    yardsticks.push(yardstickUs());
    await execute(serverUrl, `drop database ${name}`);
    process.stderr.write('.');
  }
  process.stderr.write('\n');
  const rows = [...runs].map(([title, measured]) => rowOf(title, measured, { events, copied, yardsticks }));
  const seconds = median(copied);
  const copyRow = [
    'COPY of the same rows',
    seconds.toFixed(1),
    Math.round(events / seconds).toLocaleString('en'),
    '',
    '',
    '',
    '',
    '',
  ];
  printTable([`${events.toLocaleString('en')} events`, ...HEAD], [...rows, copyRow]);
};

// Over 200 lines, because it is one server, and each way to end it.
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { readCluster } from '#adapters/embedded-postgres/cluster.ts';
import { startEmbeddedPostgres } from '#adapters/embedded-postgres/embedded.ts';
import { readPostmaster } from '#adapters/embedded-postgres/postmaster.ts';
import { findServerUser } from '#adapters/embedded-postgres/server-user.ts';
import { until } from '../../../testing/until.ts';
import { openCuttable } from '../../engines/cuttable.ts';
import { temporaryDataDir } from '../../engines/data-dir.ts';
import { startStandby } from './standby.ts';

/** A PostgreSQL server of the caller's own, which can be ended in every possible way. */
export type PostgresServer = AsyncDisposable & {
  readonly url: string;
  createDatabase(name: string): Promise<string>;
  /**
   * Ends it, and waits until it is up again: `kill -9` of the server, or its own fast and immediate shutdown.
   */
  end(how: Ending): Promise<void>;
  /** Every session ends, and no other begins: all connections are taken, until the result is disposed. */
  takeConnections(): Promise<AsyncDisposable>;
  /** No transaction may write, unless its session allows it. */
  allowWrites(areAllowed: boolean): Promise<void>;
  /**
   * Its disk takes no more data, as if it were full or broken: the server crashes at the first write of its
   * log. Once the disk is mended, it is started again, as an operator does.
   */
  breakDisk(): Promise<void>;
  mendDisk(): Promise<void>;
  /** The server crashes with its disk, and a synchronous standby replaces it at the same address. */
  promoteStandby(): Promise<void>;
  /** The server keeps its connections, but does not answer. */
  pause(): Promise<void>;
  resume(): void;
};

type Ending = 'killed' | 'fast' | 'immediate';

const SIGNALS: Readonly<Record<Ending, NodeJS.Signals>> = {
  killed: 'SIGKILL',
  fast: 'SIGINT',
  immediate: 'SIGQUIT',
};
/** With `fsync`, as everywhere: what is acknowledged waits for the disk. */
const SETTINGS = { max_connections: '300', max_wal_size: '512MB' };
const RECOVERED_MS = 60_000;

export const startPostgresServer = async (
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> => {
  await using opening = new AsyncDisposableStack();
  let running = await startOwned(await temporaryDataDir(), settings);
  opening.defer(() => running[Symbol.asyncDispose]());
  // The address that all use, whichever server is behind it.
  const front = opening.use(await openCuttable(() => running.url));
  const url = Object.assign(new URL(running.url), { port: String(front.port) }).href;
  const paused: number[] = [];
  const end = async (how: Ending): Promise<void> => {
    const { pgdata } = running;
    const ended = await readPostmaster(pgdata);
    if (ended !== undefined) signal(ended.pid, SIGNALS[how]);
    // The owner restarts it on the same port.
    await until(
      () => readPostmaster(pgdata),
      (postmaster) => postmaster?.ready === true && postmaster.pid !== ended?.pid,
      RECOVERED_MS,
    );
  };
  const asAdministrator = async (...statements: readonly string[]): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  };
  const limitFiles = async (limit: string): Promise<void> => {
    const postmaster = await readPostmaster(running.pgdata);
    if (postmaster === undefined) return;
    const children = await childrenOf(postmaster.pid);
    // Only the user of a process, or a privileged one, may change its limits.
    await promisify(execFile)('sh', ['-c', LIMIT, limit, String(postmaster.pid), ...children.map(String)], {
      ...(await findServerUser(undefined)),
      cwd: '/',
    });
  };
  const resume = () => {
    for (const pid of paused.splice(0)) signal(pid, 'SIGCONT');
  };
  opening.defer(resume);
  const resources = opening.move();
  return {
    url,
    async createDatabase(name) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(`create database ${name}`).finally(() => client.end());
      return databaseOf(url, name);
    },
    end,
    takeConnections: () => takeAll(url, () => asAdministrator(END_SESSIONS)),
    allowWrites: (areAllowed) =>
      asAdministrator(
        'set default_transaction_read_only = off',
        `alter system set default_transaction_read_only = ${areAllowed ? 'off' : 'on'}`,
        'select pg_reload_conf()',
      ),
    breakDisk: () => limitFiles(FILE_BYTES_MAX),
    async mendDisk() {
      await limitFiles('unlimited');
      // Whatever it was doing: PostgreSQL 18 that crashes again while it recovers can wait for itself forever.
      await end('immediate');
    },
    async promoteStandby() {
      const former = running;
      const folder = await temporaryDataDir();
      const from = { dataDir: former.dataDir, url: databaseOf(former.url, 'postgres') };
      const standby = await startStandby({ ...from, settings: { ...SETTINGS, ...settings } }, folder.path);
      front.cut();
      const crashed = await readPostmaster(former.pgdata);
      if (crashed !== undefined) signal(crashed.pid, 'SIGKILL');
      await former[Symbol.asyncDispose]();
      await standby.promote();
      running = await startOwned(folder, settings);
      front.mend();
    },
    async pause() {
      const postmaster = await readPostmaster(running.pgdata);
      if (postmaster === undefined) return;
      // The postmaster is stopped first, so that the list of its children is complete.
      for (const pid of [postmaster.pid]) if (signal(pid, 'SIGSTOP')) paused.push(pid);
      for (const pid of await childrenOf(postmaster.pid)) if (signal(pid, 'SIGSTOP')) paused.push(pid);
    },
    resume,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

type Owned = AsyncDisposable & { readonly url: string; readonly dataDir: string; readonly pgdata: string };

/** The server of a folder, which ends with it. */
const startOwned = async (
  folder: AsyncDisposable & { readonly path: string },
  settings: Readonly<Record<string, string>>,
): Promise<Owned> => {
  await using opening = new AsyncDisposableStack();
  opening.use(folder);
  const { path: dataDir } = folder;
  const { url } = opening.use(
    await startEmbeddedPostgres({ dataDir, settings: { ...SETTINGS, ...settings } }),
  );
  const pgdata = (await readCluster(dataDir))?.pgdata ?? '';
  const resources = opening.move();
  return { url, dataDir, pgdata, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

const databaseOf = (url: string, name: string): string =>
  Object.assign(new URL(url), { pathname: `/${name}` }).href;

/** Files of the write-ahead log are larger. */
const FILE_BYTES_MAX = '1048576';
/** Of the postmaster, and of those children that have not ended in the meantime. */
const LIMIT = `postmaster=$1; shift
  for pid in "$@"; do prlimit --pid="$pid" --fsize="$0:" 2> /dev/null || true; done
  prlimit --pid="$postmaster" --fsize="$0:"`;

const END_SESSIONS = `select pg_terminate_backend(pid) from pg_stat_activity
  where backend_type = 'client backend' and pid <> pg_backend_pid() and application_name <> 'taker'`;
const TAKEN_AT_ONCE = 50;
const TAKE_EVERY_MS = 20;

/** Opens connections until the server refuses one, ends all others, and takes their places too. */
const takeAll = async (url: string, endOthers: () => Promise<void>): Promise<AsyncDisposable> => {
  const clients: pg.Client[] = [];
  const leaving = new AbortController();
  const takeOne = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: url, application_name: 'taker' });
    client.on('error', () => {});
    return client.connect().then(
      () => clients.push(client) > 0,
      () => false,
    );
  };
  await endOthers();
  const take = async (): Promise<void> => {
    while (!leaving.signal.aborted) {
      const areTaken = await Promise.all(Array.from({ length: TAKEN_AT_ONCE }, takeOne));
      if (!areTaken.every(Boolean)) await delay(TAKE_EVERY_MS);
    }
  };
  const taking = take();
  return {
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await taking;
      await Promise.all(clients.map((client) => client.end()));
    },
  };
};

/** Returns whether the process still existed. */
const signal = (pid: number, name: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
};

const childrenOf = async (parent: number): Promise<readonly number[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(pids.map(parentOf));
  return pids.filter((_, place) => parents[place] === parent);
};

/** In the line of /proc, the program's name is in parentheses, and may contain anything. */
const parentOf = async (pid: number): Promise<number | undefined> => {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(')') + 2).split(' ')[1]);
};

import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { readCluster } from '#shared/database/embedded/cluster.ts';
import { readPostmaster } from '#shared/database/embedded/postmaster.ts';
import { startEmbeddedPostgres } from '#shared/database/embedded.ts';
import { until } from '../../../testing/until.ts';
import { temporaryDataDir } from '../../engines/data-dir.ts';

/** A PostgreSQL server of the caller's own, which can be ended in every possible way. */
export type PostgresServer = AsyncDisposable & {
  readonly url: string;
  createDatabase(name: string): Promise<string>;
  /**
   * Ends it, and waits until it is up again: `kill -9` of the server, or its own fast and immediate shutdown.
   */
  end(how: Ending): Promise<void>;
  /** It keeps its connections, but does not answer. */
  pause(): Promise<void>;
  resume(): void;
};

type Ending = 'killed' | 'fast' | 'immediate';

const SIGNALS: Readonly<Record<Ending, NodeJS.Signals>> = {
  killed: 'SIGKILL',
  fast: 'SIGINT',
  immediate: 'SIGQUIT',
};
/** Commits survive a crash of the server, but not of the machine. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '500', max_wal_size: '512MB' };
const RECOVERED_MS = 60_000;

export const startPostgresServer = async (
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> => {
  await using opening = new AsyncDisposableStack();
  const dataDir = opening.use(await temporaryDataDir());
  const { url } = opening.use(
    await startEmbeddedPostgres({ dataDir: dataDir.path, settings: { ...SETTINGS, ...settings } }),
  );
  const pgdata = (await readCluster(dataDir.path))?.pgdata ?? '';
  const paused: number[] = [];
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
      return Object.assign(new URL(url), { pathname: `/${name}` }).href;
    },
    async end(how) {
      const running = await readPostmaster(pgdata);
      if (running !== undefined) signal(running.pid, SIGNALS[how]);
      // The owner restarts it on the same port.
      await until(
        () => readPostmaster(pgdata),
        (postmaster) => postmaster?.ready === true && postmaster.pid !== running?.pid,
        RECOVERED_MS,
      );
    },
    async pause() {
      const postmaster = await readPostmaster(pgdata);
      if (postmaster === undefined) return;
      // The postmaster is stopped first, so that the list of its children is complete.
      for (const pid of [postmaster.pid]) if (signal(pid, 'SIGSTOP')) paused.push(pid);
      for (const pid of await childrenOf(postmaster.pid)) if (signal(pid, 'SIGSTOP')) paused.push(pid);
    },
    resume,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
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

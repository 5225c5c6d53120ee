import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { runProgram } from '#adapters/embedded-postgres/programs.ts';
import { findServerUser } from '#adapters/embedded-postgres/server-user.ts';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from './data-dir.ts';

/** A PostgreSQL of the system's packages, with the tools for backups; the embedded one has none. */
export type SystemPostgres = AsyncDisposable & {
  readonly url: string;
  /** The folder of its files. */
  readonly pgdata: string;
  /** Makes the files of a new one. */
  initialize(): Promise<void>;
  start(): Promise<void>;
  /** Makes it a standby of another, whose commits it receives, and starts it. */
  followPrimary(url: string): Promise<void>;
  createDatabase(): Promise<void>;
  /** Destroys it with its disk. */
  destroy(): Promise<void>;
  /** Gives the files in `pgdata` to the server's user. */
  handOver(): Promise<void>;
};

const DEBIAN = '/usr/lib/postgresql';
const TOOLS = [
  'initdb',
  'postgres',
  'pg_dump',
  'pg_restore',
  'pg_basebackup',
  'pg_receivewal',
  'pg_verifybackup',
];
const MAJOR_MIN = 15;

const findTools = async (): Promise<string | undefined> => {
  const majors = (await readdir(DEBIAN).catch(() => [])).map(Number).filter((major) => major >= MAJOR_MIN);
  for (const major of majors.toSorted((one, other) => other - one)) {
    const bin = join(DEBIAN, String(major), 'bin');
    const present = new Set(await readdir(bin).catch(() => []));
    if (TOOLS.every((tool) => present.has(tool))) return bin;
  }
  return undefined;
};

/** The folder of its programs. */
export const systemPostgresBin = await findTools();

/** Why there is none here; such tests are skipped. On CI they fail instead. */
export const systemPostgresMissing: string | undefined =
  systemPostgresBin !== undefined || process.env.CI === 'true'
    ? undefined
    : `there is no PostgreSQL of ${MAJOR_MIN} or newer in ${DEBIAN} (Debian: apt-get install postgresql)`;

const PASSWORD = 'of-a-test';

type Options = {
  /** The folder of the programs. */
  readonly bin?: string | undefined;
  readonly settings?: Readonly<Record<string, string>>;
};

export const startSystemPostgres = async ({
  bin = systemPostgresBin,
  settings = {},
}: Options = {}): Promise<SystemPostgres> => {
  if (bin === undefined) throw new Error('PostgreSQL is not installed, and with CI=true it must be');
  await using opening = new AsyncDisposableStack();
  const { path: folder } = opening.use(await temporaryDataDir());
  const user = await findServerUser(undefined);
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const pgdata = join(folder, 'data');
  // The reaper finds the server by this record if the run is killed.
  await writeFile(
    join(folder, 'postgres.json'),
    JSON.stringify({ pgdata, user: 'annals', password: PASSWORD }),
  );
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, PASSWORD);
  const access = ['--username=annals', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const initialize = () =>
    runProgram(
      join(bin, 'initdb'),
      [`--pgdata=${pgdata}`, ...access, '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'],
      {
        user,
        signal: undefined,
      },
    );
  await initialize();
  const port = await freePort();
  const urlOf = (database: string) => `postgres://annals:${PASSWORD}@127.0.0.1:${port}/${database}`;
  let server: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.kill('SIGQUIT');
    await gone;
  };
  opening.defer(kill);
  const launch = (): void => {
    const options = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: 200,
      ...settings,
    };
    const args = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    server = spawn(join(bin, 'postgres'), ['-D', pgdata, ...args], { ...user, cwd: '/', stdio: 'ignore' });
  };
  const start = async (): Promise<void> => {
    launch();
    await until(() => answers(urlOf('postgres')), Boolean, 60_000);
  };
  const followPrimary = async (url: string): Promise<void> => {
    await rm(pgdata, { recursive: true, force: true });
    const args = [`--dbname=${url}`, `--pgdata=${pgdata}`, '--write-recovery-conf', '--checkpoint=fast'];
    await runProgram(join(bin, 'pg_basebackup'), args, { user, signal: undefined });
    launch();
    await until(() => isReceiving(urlOf('postgres')), Boolean, 60_000);
  };
  const resources = opening.move();
  return {
    url: urlOf('annals'),
    pgdata,
    initialize,
    start,
    followPrimary,
    createDatabase: () =>
      inDatabase(urlOf('postgres'), async (client) => void (await client.query('create database annals'))),
    destroy: async () => {
      await kill();
      await rm(pgdata, { recursive: true, force: true });
    },
    handOver: async () => {
      if (user !== undefined && spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, pgdata]).status !== 0)
        throw new Error('chown failed');
      await chmod(pgdata, 0o700);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** True once it accepts writes: a restored one first replays its log. */
const answers = (url: string): Promise<boolean> =>
  inDatabase(url, async (client) => {
    const { rows } = await client.query<{ recovering: boolean }>('select pg_is_in_recovery() as recovering');
    return rows[0]?.recovering === false;
  }).catch(() => false);

const isReceiving = (url: string): Promise<boolean> =>
  inDatabase(
    url,
    async (client) =>
      (await client.query(`select from pg_stat_wal_receiver where status = 'streaming'`)).rowCount === 1,
  ).catch(() => false);

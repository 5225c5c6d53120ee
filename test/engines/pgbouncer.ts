import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { findServerUser } from '#adapters/embedded-postgres/server-user.ts';
import { onConnection } from '../../testing/database/search-everywhere.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from './data-dir.ts';

/**
 * A PgBouncer of the caller's own before a PostgreSQL, with default settings and, in session mode,
 * connections for all.
 */
export type PgBouncer = AsyncDisposable & {
  /** The same database through it. */
  through(url: string): string;
};

/** How long a pool's connection is assigned to a client. */
export type PoolMode = 'session' | 'transaction' | 'statement';

/** Debian installs it where only root's PATH leads. */
const ENVIRONMENT = { PATH: `${process.env.PATH}:/usr/sbin` };
const PROGRAM = process.env.PGBOUNCER ?? 'pgbouncer';

const isInstalled = spawnSync(PROGRAM, ['--version'], { env: ENVIRONMENT }).status === 0;
const ABSENT = `there is no ${PROGRAM} here (Debian: apt-get install pgbouncer; or set PGBOUNCER to one)`;

/** Why there is no PgBouncer here; such tests are skipped. On CI they fail instead. */
export const pgBouncerMissing: string | undefined =
  isInstalled || process.env.CI === 'true' ? undefined : ABSENT;

const STARTS_MAX = 5;

export const startPgBouncer = async (server: string, mode: PoolMode): Promise<PgBouncer> => {
  if (!isInstalled) throw new Error(ABSENT);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOn(await freePort(), server, mode);
    } catch (error) {
      // Another program may take the port between the choice and the start.
      if (attempt === STARTS_MAX || !String(error).includes('in use')) throw error;
    }
  }
};

const startOn = async (port: number, server: string, mode: PoolMode): Promise<PgBouncer> => {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryDataDir()).path;
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, configurationOf(port, new URL(server), mode));
  opening.use(await startProgram(file, () => onConnection(throughPort(port, server), async () => true)));
  const resources = opening.move();
  return { through: (url) => throughPort(port, url), [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

const throughPort = (port: number, url: string): string => {
  const through = new URL(url);
  through.host = `127.0.0.1:${port}`;
  return through.href;
};

const configurationOf = (
  port: number,
  { hostname, port: to, username, password }: URL,
  mode: PoolMode,
): string => `
[databases]
* = host=${hostname} port=${to} user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
max_client_conn = 400
${mode === 'session' ? 'default_pool_size = 100' : ''}
`;

/** The shell reads from this process until that ends, however it ends, and then ends PgBouncer. */
const KEEPER = '"$@" < /dev/null & server=$!; read -r _; kill -KILL "$server"; wait "$server"';

/** PgBouncer refuses to run as root. */
const startProgram = async (file: string, answers: () => Promise<boolean>): Promise<AsyncDisposable> => {
  const user = await findServerUser(undefined);
  const keeper = spawn('sh', ['-c', KEEPER, 'sh', PROGRAM, file], {
    ...user,
    cwd: '/',
    env: ENVIRONMENT,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let said = '';
  keeper.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said = `${said}${chunk}`.slice(-SAID_MAX);
  });
  const stop = () => end(keeper);
  try {
    await until(async () => said.includes('FATAL') || (await answers().catch(() => false)), Boolean);
    if (said.includes('FATAL')) throw new Error(`PgBouncer refuses: ${said}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { [Symbol.asyncDispose]: stop };
};

const SAID_MAX = 10_000;

const end = async (keeper: ChildProcess): Promise<void> => {
  if (keeper.exitCode !== null) return;
  const exited = once(keeper, 'exit');
  keeper.stdin?.end();
  await exited;
};

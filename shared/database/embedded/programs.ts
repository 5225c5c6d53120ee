import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, rename, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { EmbeddedPostgresFailed } from './errors.ts';
import type { ServerUser } from './server-user.ts';

/** Nothing of the caller's environment (PGDATA, PGPORT, PGOPTIONS, a locale) may reach the server. */
const ENVIRONMENT = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
const PROGRAM_TIMEOUT_MS = 120_000;
const LOG_BYTES_MAX = 10_485_760;

/** Runs one of PostgreSQL's programs to its end. */
export const runProgram = async (program: string, args: readonly string[], user: ServerUser | undefined): Promise<void> => {
  try {
    await promisify(execFile)(program, args, { ...user, cwd: '/', env: ENVIRONMENT, timeout: PROGRAM_TIMEOUT_MS });
  } catch (cause) {
    const output = (cause as { stderr?: string }).stderr?.trim() || (cause as Error).message;
    throw new EmbeddedPostgresFailed(`The embedded PostgreSQL does not work on this machine; set DATABASE_URL instead (${output}).`, {
      cause,
    });
  }
};

type ServerProcess = {
  readonly program: string;
  readonly args: readonly string[];
  readonly user: ServerUser | undefined;
  readonly logPath: string;
};

/**
 * Starts the server in a session of its own, so that Ctrl+C in a terminal reaches only its owner, who stops it in order.
 * The log is opened here, because the server's user may not be able to enter its folder.
 */
export const spawnServer = async ({ program, args, user, logPath }: ServerProcess): Promise<ChildProcess> => {
  await rotate(logPath);
  await using log = await open(logPath, 'a', 0o600);
  const child = spawn(program, args, { ...user, cwd: '/', env: ENVIRONMENT, detached: true, stdio: ['ignore', log.fd, log.fd] });
  await once(child, 'spawn');
  child.unref();
  return child;
};

const rotate = async (path: string): Promise<void> => {
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  );
  if (size > LOG_BYTES_MAX) await rename(path, `${path}.1`);
};

import { type ChildProcess, type ExecFileException, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, rename, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { StartInterrupted } from '#kernel/base/start-refused.ts';
import { EmbeddedPostgresFailed } from './errors.ts';
import type { ServerUser } from './server-user.ts';

/** Keeps the caller’s environment (PGDATA, PGPORT, PGOPTIONS, a locale) from the server. */
const ENVIRONMENT = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
const PROGRAM_TIMEOUT_MS = 120_000;
const LOG_BYTES_MAX = 10_485_760;

type Run = { readonly user: ServerUser | undefined; readonly signal: AbortSignal | undefined };

/** Runs one of PostgreSQL’s programs to its end, or until the signal. */
export const runProgram = async (
  program: string,
  args: readonly string[],
  { user, signal }: Run,
): Promise<void> => {
  try {
    await promisify(execFile)(program, args, {
      ...user,
      cwd: '/',
      env: ENVIRONMENT,
      timeout: PROGRAM_TIMEOUT_MS,
      signal,
    });
  } catch (cause) {
    // Ctrl+C in a terminal reaches the program as well, which may have ended before this process learns of
    // it.
    if (signal?.aborted || wasInterrupted(cause))
      throw new StartInterrupted('Stopped before the database was created; nothing is left behind.', {
        cause,
      });
    const output = (cause as { stderr?: string }).stderr?.trim() || (cause as Error).message;
    throw new EmbeddedPostgresFailed(
      `The embedded PostgreSQL does not work on this machine; set DATABASE_URL instead (${output}).`,
      {
        cause,
      },
    );
  }
};

/** A program of PostgreSQL that catches a signal says so and exits. */
const wasInterrupted = (cause: unknown): boolean => {
  const { killed, signal, stderr } = cause as ExecFileException;
  return (
    killed !== true &&
    (signal === 'SIGINT' || signal === 'SIGTERM' || stderr?.includes('caught signal') === true)
  );
};

type ServerProcess = {
  readonly program: string;
  readonly args: readonly string[];
  readonly user: ServerUser | undefined;
  readonly logPath: string;
};

/**
 * Starts the server in a session of its own, so that Ctrl+C in a terminal reaches only its owner, which shuts
 * it down in order. The log is opened here, because the server’s user may be unable to enter its folder.
 */
export const spawnServer = async ({ program, args, user, logPath }: ServerProcess): Promise<ChildProcess> => {
  await rotate(logPath);
  await using log = await open(logPath, 'a', 0o600);
  const child = spawn(program, args, {
    ...user,
    cwd: '/',
    env: ENVIRONMENT,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
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

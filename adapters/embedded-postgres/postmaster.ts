import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { poll } from '#shared/clock/poll.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';

type Postmaster = { readonly pid: number; readonly port: number; readonly ready: boolean };

const POLL_MS = 20;
const FAST_SHUTDOWN_MS = 10_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;

/**
 * Reads the running server of a cluster from its `postmaster.pid`, whose lines are: pid, folder, start time,
 * port, socket folder, listen address, shared memory, status. Ignores a file whose process is gone, or is
 * another program.
 */
export const readPostmaster = async (pgdata: string): Promise<Postmaster | undefined> => {
  const text = await readFile(pidFile(pgdata), 'utf8').catch(() => '');
  const [pid, , , port, , , , status] = text.split('\n').map((line) => line.trim());
  const postmaster = { pid: Number(pid), port: Number(port ?? 0), ready: status === 'ready' };
  return Number.isSafeInteger(postmaster.pid) &&
    postmaster.pid > 1 &&
    (await isServerOf(postmaster.pid, pgdata))
    ? postmaster
    : undefined;
};

/**
 * Removes a `postmaster.pid` whose process number now belongs to another program, as often after a restart of
 * a container: PostgreSQL would mistake that program for its server and refuse to start. Its shared memory
 * still guards the cluster.
 */
export const removeStalePidFile = async (pgdata: string): Promise<void> => {
  const stale = await readFile(pidFile(pgdata), 'utf8').catch(() => undefined);
  if (stale === undefined || (await readPostmaster(pgdata)) !== undefined) return;
  // Compared and removed without a pause, so that a server that another start has spawned meanwhile keeps its
  // file.
  if (readFileSync(pidFile(pgdata), 'utf8') === stale) rmSync(pidFile(pgdata));
};

/**
 * Stops the server of a cluster: with a fast shutdown, which ends sessions and loses nothing, and with an
 * immediate one if that takes too long.
 */
export const stopPostmaster = async (pgdata: string): Promise<void> => {
  const pid = (await readPostmaster(pgdata))?.pid;
  if (pid === undefined) return;
  for (const [signal, timeoutMs] of [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
  ] as const) {
    signalProcess(pid, signal);
    if (await isGone(pgdata, pid, timeoutMs)) return;
  }
};

/** Begins a fast shutdown, and waits for nothing. */
export const shutDownFast = (pid: number): void => signalProcess(pid, 'SIGINT');

const pidFile = (pgdata: string): string => join(pgdata, 'postmaster.pid');

const isGone = (pgdata: string, pid: number, timeoutMs: number): Promise<boolean> =>
  poll(
    { clock: REAL_TIME, everyMs: POLL_MS, withinMs: timeoutMs },
    async () => (await readPostmaster(pgdata))?.pid !== pid,
  );

const signalProcess = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/**
 * A process number alone proves nothing, because numbers are reused: the process must be a server on this
 * very folder.
 */
const isServerOf = async (pid: number, pgdata: string): Promise<boolean> => {
  const command = platform() === 'linux' ? await commandOnLinux(pid) : await commandElsewhere(pid);
  return command.includes('postgres') && command.includes(await realpath(pgdata).catch(() => pgdata));
};

const commandOnLinux = async (pid: number): Promise<string> =>
  (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ');

const commandElsewhere = async (pid: number): Promise<string> => {
  const listed = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return listed.stdout;
};

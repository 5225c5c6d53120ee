import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, glob, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../adapters/embedded-postgres/embedded.ts';
import { RUN, removeDataDir, removeDataDirsOf } from '../test/engines/data-dir.ts';

/**
 * Runs a bench in a folder of its own, and leaves no process and no folder behind, however it ends. On a
 * signal Node runs no `finally` and no disposal, and PostgreSQL is in a session of its own that Ctrl+C does
 * not reach. So the bench runs in a process group, and this process only watches it, ends what is left of the
 * group and removes the folder.
 */
export const runBench = async (measure: (folder: string) => Promise<void>): Promise<void> => {
  const folder = process.env[FOLDER];
  // The watching process has died.
  if (folder !== undefined) process.once('disconnect', () => void endAlone(folder));
  // The channel must not keep the bench alive.
  process.channel?.unref();
  return folder === undefined ? watch() : measure(folder);
};

/** The same, with a PostgreSQL server with its durable settings. */
export const runBenchOnPostgres = (
  measure: (serverUrl: string, folder: string) => Promise<void>,
): Promise<void> =>
  runBench(async (folder) => {
    await using server = await startEmbeddedPostgres({ dataDir: folder });
    await measure(server.url, folder);
  });

const endAlone = async (folder: string): Promise<void> => {
  await cleanUp(folder, String(process.env[RUN]));
  await endGroup(process.pid, ['SIGKILL']);
};

const FOLDER = 'ANNALS_BENCH_FOLDER';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const watch = async (): Promise<void> => {
  let child: ChildProcess | undefined;
  let interruptedBy: NodeJS.Signals | undefined;
  for (const signal of SIGNALS)
    process.on(signal, () => {
      if (interruptedBy === undefined) process.stderr.write(`\n${signal}: ending what was started …\n`);
      interruptedBy ??= signal;
      if (child !== undefined) void endGroup(child.pid as number);
    });
  const run = `bench-${process.pid}`;
  const folder = await mkdtemp(join(tmpdir(), 'annals-bench-'));
  // The user that PostgreSQL runs as must be able to enter.
  await chmod(folder, 0o755);
  if (interruptedBy === undefined) child = startInGroup(folder, run);
  const [code, signal] = child === undefined ? [null, null] : await untilEnd(child);
  if (child !== undefined) await endGroup(child.pid as number);
  await cleanUp(folder, run);
  process.exitCode = exitCodeOf(code, interruptedBy ?? signal);
};

/** Starts this program again, which then finds the folder and measures. */
const startInGroup = (folder: string, run: string): ChildProcess => {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    // Puts temporary folders below this one.
    env: { ...process.env, [FOLDER]: folder, [RUN]: run, TMPDIR: folder },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  // Forwards to the guard, if that runs the bench.
  child.on('message', (figure) => process.send?.(figure));
  return child;
};

const untilEnd = async (child: ChildProcess) => {
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  return [code as number | null, signal as NodeJS.Signals | null] as const;
};

const KILLED = 128;
const exitCodeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  signal === null ? (code ?? 1) : KILLED + constants.signals[signal];

const END_MS = 15_000;
const LOOK_MS = 20;

/** On SIGTERM, roles of Annals also stop the database that they have started. */
const endGroup = async (
  group: number,
  signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGKILL'],
): Promise<void> => {
  for (const signal of signals) {
    const deadlineMs = performance.now() + END_MS;
    if (send(-group, signal)) await untilGone(-group, deadlineMs);
  }
};

const untilGone = async (target: number, deadlineMs: number): Promise<void> => {
  while (send(target, 0) && performance.now() < deadlineMs) await delay(LOOK_MS);
};

/** Returns whether the target existed. */
const send = (target: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(target, signal);
  } catch {
    return false;
  }
};

const RETRIES_MAX = 5;

const cleanUp = async (folder: string, run: string): Promise<void> => {
  for await (const record of glob(join(folder, '**/postgres.json'))) await removeDataDir(dirname(record));
  // A server that has just started has not written its address yet.
  for (let pass = 0; pass < RETRIES_MAX; pass += 1) {
    for (const pid of await processesOn(folder)) send(pid, 'SIGQUIT');
    await delay(LOOK_MS);
  }
  await removeDataDirsOf(run);
  await rm(folder, { recursive: true, force: true, maxRetries: RETRIES_MAX });
};

/** Processes with the folder among their arguments, if the system shows them (Linux). */
const processesOn = async (folder: string): Promise<readonly number[]> => {
  const found: number[] = [];
  for (const name of await readdir('/proc').catch(() => [])) {
    const command = /^\d+$/.test(name) ? await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '') : '';
    if (command.includes(folder)) found.push(Number(name));
  }
  return found;
};

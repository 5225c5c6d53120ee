import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startDeadline } from '../../testing/load.ts';
import { keepOutput } from './process-output.ts';
import { countStart } from './starts.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START_MS = 180_000;
const LOOK_AGAIN_MS = 500;

/** A role in a process of its own, as an operator starts it. */
export type RoleProcess = AsyncDisposable & {
  readonly pid: number | undefined;
  /** How it ended, once it has. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** Waits for a log line with this message, and returns the line's fields. */
  logged(message: string): Promise<Readonly<Record<string, unknown>>>;
  /** Ends it, and waits for that. */
  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
  /** Pauses it, resumes it, or makes it replace its workers. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGHUP'): void;
  /** Its output so far. */
  readonly printed: () => string;
};

/** All running processes that this process has started. */
const living = new Set<ChildProcess>();

/**
 * A worker of the tests receives a signal to exit when it has no more tests; processes that outlive a suite,
 * such as shared ones, end with it.
 */
const takeThemAlong = (): void => {
  for (const child of living) child.kill('SIGKILL');
  process.kill(process.pid, 'SIGKILL');
};

const keepTrackOf = (child: ChildProcess): void => {
  if (living.size === 0) process.once('SIGTERM', takeThemAlong);
  living.add(child);
  child.once('exit', () => {
    living.delete(child);
    if (living.size === 0) process.off('SIGTERM', takeThemAlong);
  });
};

/**
 * A file, or a file and the role that it starts. Settings are not inherited from the environment of the
 * tests; ports are free ones.
 */
export const startRole = (
  started: string,
  settings: Readonly<Record<string, string>>,
  root = ROOT,
): RoleProcess => {
  countStart('process', started);
  const child = spawn(process.execPath, started.split(' '), {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      NODE_ENV: 'test',
      PORT: '0',
      METRICS_PORT: '0',
      INTERNAL_PORT: '0',
      LOG_LEVEL: 'info',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  keepTrackOf(child);
  const ended = once(child, 'exit').then(
    ([code, signal]: (number | NodeJS.Signals | null)[]) => code ?? signal ?? null,
  );
  const lines: string[] = [];
  keepOutput({ started: `${started} (${child.pid})`, lines });
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const look of waiting) look();
    });
  }
  const kill = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    }
    return child.exitCode ?? child.signalCode;
  };
  return {
    pid: child.pid,
    ended,
    kill,
    signal: (name) => void child.kill(name),
    printed: () => lines.join('\n'),
    logged: (message) => waitForLine({ child, lines, waiting }, message),
    [Symbol.asyncDispose]: async () => void (await kill('SIGKILL')),
  };
};

type Output = {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  readonly waiting: Set<() => void>;
};

const waitForLine = (
  { child, lines, waiting }: Output,
  message: string,
): Promise<Readonly<Record<string, unknown>>> => {
  const { promise, resolve, reject } = Promise.withResolvers<Readonly<Record<string, unknown>>>();
  const look = () => {
    const found = lines.map(parse).find((line) => line.msg === message);
    if (found) resolve(found);
  };
  const fail = (why: string) =>
    reject(new Error(`${why} without “${message}”; it printed:\n${lines.join('\n')}`));
  const onExit = () => fail('the role ended');
  const deadline = startDeadline(START_MS);
  const timer = setInterval(() => deadline.isOver() && fail(`the role ran for ${deadline}`), LOOK_AGAIN_MS);
  waiting.add(look);
  child.once('exit', onExit);
  look();
  return promise.finally(() => {
    clearInterval(timer);
    waiting.delete(look);
    child.off('exit', onExit);
  });
};

const parse = (line: string): Record<string, unknown> => {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
};

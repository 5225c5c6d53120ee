import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startDeadline } from '../testing/load.ts';

const root = join(import.meta.dirname, '..');
const DEADLINE_MS = 60_000;
const POLL_MS = 10;

type AnnalsProcess = AsyncDisposable & {
  readonly child: ChildProcess;
  /** The output so far. */
  readonly output: () => string;
  /** The exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** Waits for a line that matches, and returns the match. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
};

type Environment = Readonly<Record<string, string>>;

/** Free ports; the settings of the user who runs the tests are ignored. */
const SETTINGS = { PORT: '0', METRICS_PORT: '0', INTERNAL_PORT: '0' };

type Running = {
  readonly detached?: boolean /** Of this checkout, unless another. */;
  readonly folder?: string;
  readonly node?: string;
};

/**
 * Runs this checkout's own program in a process of its own, killed at the end if it still runs; a detached
 * one leads a process group.
 */
export const spawnAnnals = (
  args: readonly string[],
  environment: Environment = {},
  { detached = false, folder = root, node = process.execPath }: Running = {},
): AnnalsProcess => {
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    ...SETTINGS,
    ...environment,
  };
  const child = spawn(node, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  const output = () => chunks.join('');
  const exited = once(child, 'close').then(([code, signal]) => {
    process.off('exit', kill);
    return code ?? signal;
  });
  return {
    child,
    output,
    exited,
    said: (pattern) => waitFor(pattern, output, child),
    [Symbol.asyncDispose]: async () => {
      kill();
      await exited;
    },
  };
};

export const runAnnals = async (
  args: readonly string[],
  environment: Environment = {},
  running: Running = {},
) => {
  await using annals = spawnAnnals(args, environment, running);
  return { exit: await annals.exited, output: annals.output() };
};

/** Starts all roles in one process and waits until they are ready. */
export const startAnnals = async (
  environment: Environment,
  running: Running = {},
): Promise<AnnalsProcess & { readonly url: string }> => {
  const annals = spawnAnnals(['main.ts'], environment, running);
  try {
    const [, url = ''] = await annals.said(/"url":"([^"]+)","msg":"Annals is ready\."/);
    return { ...annals, url };
  } catch (error) {
    await annals[Symbol.asyncDispose]();
    throw error;
  }
};

const waitFor = async (
  pattern: RegExp,
  output: () => string,
  child: ChildProcess,
): Promise<RegExpExecArray> => {
  const deadline = startDeadline(DEADLINE_MS);
  while (!deadline.isOver()) {
    const match = pattern.exec(output());
    if (match !== null) return match;
    if (child.exitCode !== null || child.signalCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`the process did not say ${pattern}, but:\n${output()}`);
};

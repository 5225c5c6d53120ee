import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A running program of `docs/examples`, which prints a line for each change. */
export type Example = AsyncDisposable & {
  /** The first word of each line. */
  cursors(): readonly string[];
  /** Its error output. */
  complaints(): string;
  kill(signal?: NodeJS.Signals): Promise<void>;
};

/** Started as the page says, in the project's folder. */
export const startExample = (command: string, environment: Readonly<Record<string, string>>): Example => {
  // The example may start processes of its own, which a terminal would end with it.
  const child = spawn('bash', ['-c', `exec ${command}`], {
    cwd: ROOT,
    detached: true,
    env: { PATH: `${ROOT}node_modules/.bin:${process.env.PATH}`, HOME: process.env.HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  let complaints = '';
  createInterface({ input: child.stdout }).on('line', (line) => void lines.push(line));
  child.stderr.on('data', (text: Buffer) => {
    complaints += text;
  });
  const exited = once(child, 'exit');
  const kill = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
      process.kill(-child.pid, signal);
    await exited;
  };
  return {
    cursors: () => lines.map((line) => line.split(' ')[0] ?? ''),
    complaints: () => complaints,
    kill,
    [Symbol.asyncDispose]: () => kill(),
  };
};

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { until } from '../../testing/until.ts';

const DEADLINE_MS = 100_000;
/** The output of a background process appears soon after. */
const SHOWS_MS = 20_000;

/** A shell with typed commands. */
export type TutorialTerminal = AsyncDisposable & {
  /**
   * Runs the typed commands, and returns their output once they have ended, with further output of earlier
   * background commands.
   */
  type(commands: string, shows?: (printed: string) => boolean): Promise<string>;
  /** The output since the last command. */
  printed(): string;
  /** Ctrl+C, once; resolves when everything has ended. */
  interrupt(): Promise<void>;
};

export const openTutorialTerminal = (
  folder: string,
  environment: Readonly<Record<string, string>>,
): TutorialTerminal => {
  const path = `${dirname(process.execPath)}:${process.env.PATH}`;
  const env = {
    HOME: process.env.HOME,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    ...environment,
    PATH: path,
  };
  // A process group of its own, like in a terminal, so that its children end with it.
  const bash = spawn('bash', ['--norc', '-c', 'exec bash --norc -s 2>&1'], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return terminalOf(bash);
};

const terminalOf = (bash: ChildProcessByStdio<Writable, Readable, null>): TutorialTerminal => {
  let printed = '';
  bash.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text.replaceAll('\r', '');
  });
  const exited = once(bash, 'exit');
  const signal = (name: NodeJS.Signals): void => {
    if (bash.exitCode === null && bash.signalCode === null && bash.pid !== undefined)
      process.kill(-bash.pid, name);
  };
  return {
    async type(commands, shows = () => true) {
      printed = '';
      const mark = randomUUID();
      const over = new RegExp(`\\n${mark} (\\d+)\\n`);
      bash.stdin.write(`${commands}\nprintf '\\n${mark} %s\\n' $?\n`);
      await until(
        () => printed,
        () => over.test(printed),
        DEADLINE_MS,
      );
      const [, exit] = over.exec(printed) ?? [];
      const seen = () => printed.replace(over, '');
      if (exit !== '0') throw new Error(`it ended with ${exit}:\n${commands}\n${seen()}`);
      return await until(seen, shows, SHOWS_MS);
    },
    printed: () => printed,
    async interrupt() {
      signal('SIGINT');
      bash.stdin.end();
      await exited;
    },
    async [Symbol.asyncDispose]() {
      signal('SIGKILL');
      await exited;
    },
  };
};

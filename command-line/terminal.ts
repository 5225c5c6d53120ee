import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { LoadDemo } from '#kernel/demo/demo.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { hasDesktop, openBrowser } from './browser.ts';

/**
 * Where a command writes, what it reads its settings from, when it has to end, and the domain of the
 * installation.
 */
export type Terminal = {
  readonly domain: Domain;
  /** Absent where the domain has none. */
  readonly demo?: LoadDemo;
  /** Starts all roles in this process, until a signal; absent where a command is all that runs. */
  readonly serve?: () => Promise<void>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborts when the user has seen enough: on Ctrl+C, or when the reader of a pipe is gone. */
  readonly signal: AbortSignal;
  /** Waits while the reader is slower than we are. */
  write(line: string): Promise<void>;
  complain(line: string): void;
  /**
   * Shows a line in place of the one that it showed before; an empty one takes that away. Absent where nobody
   * is there to see it.
   */
  readonly rewrite?: (line: string) => void;
  /** Whether colours are shown: on a terminal that has them, unless NO_COLOR says otherwise. */
  readonly hasColours?: boolean;
  /**
   * Opens an address in the browser of whoever is there; false if that fails. Absent where nobody is, or
   * there is no desktop.
   */
  readonly openPage?: (url: string) => Promise<boolean>;
  /** Asks a question that only yes answers with true; absent where nobody is there to answer. */
  readonly confirm?: (question: string) => Promise<boolean>;
};

/** Of a terminal that does not tell. */
const COLUMNS = 80;

export const openTerminal = (served: Pick<Terminal, 'domain' | 'demo' | 'serve'>): Terminal & Disposable => {
  const ending = new AbortController();
  const end = () => ending.abort();
  const { stdout, stderr } = process;
  stdout.on('error', end);
  // The second one ends the process, as if nobody listened: what waits for a silent server cannot be kept
  // from waiting.
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  return {
    ...served,
    environment: process.env,
    signal: ending.signal,
    write: async (line) => {
      if (ending.signal.aborted || stdout.write(`${line}\n`)) return;
      await once(stdout, 'drain', { signal: ending.signal }).catch(() => {});
    },
    complain: (line) => void stderr.write(`${line}\n`),
    ...(stderr.isTTY && {
      rewrite: (line: string) =>
        void stderr.write(`\r\u001b[2K${line.slice(0, (stderr.columns || COLUMNS) - 1)}`),
    }),
    ...(stdout.isTTY && hasDesktop(process.env) && { openPage: openBrowser }),
    hasColours: stdout.isTTY && stdout.hasColors(),
    ...(process.stdin.isTTY &&
      stdout.isTTY && { confirm: (question: string) => confirm(question, ending.signal) }),
    [Symbol.dispose]: () => {
      process.off('SIGINT', end);
      process.off('SIGTERM', end);
    },
  };
};

const confirm = async (question: string, signal: AbortSignal): Promise<boolean> => {
  // Not as a terminal of its own, so that Ctrl+C stays a signal.
  using asking = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const ended = once(asking, 'close', { signal }).then(() => '');
  const answer = await Promise.race([asking.question(`${question} [y/N] `, { signal }), ended]).catch(
    () => '',
  );
  return /^y(es)?$/i.test(answer.trim());
};

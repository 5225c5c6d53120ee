import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { LoadDemo } from '#kernel/demo/demo.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Part } from '#process/part.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';

/** The environment of a command: its output, settings, end signal, and the domain of the installation. */
export type Terminal = {
  readonly domain: Domain;
  /** The parts that the installation serves. */
  readonly parts: readonly Part[];
  /** Undefined if the domain has none. */
  readonly demo?: LoadDemo;
  /** Starts all roles in this process, until a signal; undefined if only commands can run. */
  readonly serve?: () => Promise<void>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Aborts when the user has seen enough: on Ctrl+C, or when the reader of a pipe has closed it. */
  readonly signal: AbortSignal;
  /** Waits for a slow reader. */
  write(line: string): Promise<void>;
  complain(line: string): void;
  /** Replaces the line that it showed before; an empty one removes it. Undefined without a terminal. */
  readonly rewrite?: (line: string) => void;
  /** The width of the terminal; undefined without one. */
  readonly columns?: number;
  /** Whether to use colours: on a terminal that supports them, unless NO_COLOR forbids it. */
  readonly hasColours?: boolean;
  /** Opens an address in the user's browser; false if that fails. Undefined without a user or a desktop. */
  readonly openPage?: (url: string) => Promise<boolean>;
  /** Asks a question; true only for yes. Undefined without a user. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Asks for a text, which is the suggested one unless the user types another. Undefined without a user. */
  readonly ask?: (question: string, suggested: string) => Promise<string>;
};

/** For a terminal that does not report its width. */
const COLUMNS = 80;

export const openTerminal = (
  served: Pick<Terminal, 'domain' | 'parts' | 'demo' | 'serve'>,
): Terminal & Disposable => {
  const ending = new AbortController();
  const end = () => ending.abort();
  const { stdout, stderr } = process;
  stdout.on('error', end);
  // The second signal ends the process by default: a wait for a silent server cannot be interrupted.
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  return {
    ...served,
    environment: process.env,
    clock: REAL_TIME,
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
    ...(stdout.isTTY && stdout.columns > 0 && { columns: stdout.columns }),
    hasColours: stdout.isTTY && stdout.hasColors(),
    ...(process.stdin.isTTY &&
      stdout.isTTY && {
        confirm: (question: string) => confirm(question, ending.signal),
        ask: (question: string, suggested: string) => ask(question, suggested, ending.signal),
      }),
    [Symbol.dispose]: () => {
      process.off('SIGINT', end);
      process.off('SIGTERM', end);
    },
  };
};

const confirm = async (question: string, signal: AbortSignal): Promise<boolean> =>
  /^y(es)?$/i.test(await answerTo(`${question} [y/N] `, signal).catch(() => ''));

const ask = async (question: string, suggested: string, signal: AbortSignal): Promise<string> => {
  const answer = await answerTo(
    suggested === '' ? `${question} ` : `${question} (${suggested}) `,
    signal,
  ).catch(() => undefined);
  if (answer === undefined)
    throw new StartRefused('Stopped: nothing was written.', { exitCode: INTERRUPTED });
  return answer || suggested;
};

/** The exit code that shells give a program ended by Ctrl+C. */
const INTERRUPTED = 130;

/** Rejects if nobody is there any more. */
const answerTo = async (prompt: string, signal: AbortSignal): Promise<string> => {
  // Not as a terminal of its own, so that Ctrl+C stays a signal.
  using asking = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const ended = once(asking, 'close', { signal }).then(() => {
    throw new Error('the input has ended');
  });
  ended.catch(() => {});
  return (await Promise.race([asking.question(prompt, { signal }), ended])).trim();
};

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
const OTHERWISE = ['xdg-open'] as const;

/** Opens an address; false if no browser could be started. */
const openBrowser = async (url: string): Promise<boolean> => {
  const [program, ...args] = OPENERS[process.platform] ?? OTHERWISE;
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  try {
    await once(child, 'spawn');
    child.unref();
    return true;
  } catch {
    return false;
  }
};

/** Without a desktop there is no browser to open. */
const hasDesktop = ({ DISPLAY, WAYLAND_DISPLAY }: Readonly<Record<string, string | undefined>>): boolean =>
  process.platform in OPENERS || Boolean(DISPLAY || WAYLAND_DISPLAY);

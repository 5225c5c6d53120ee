import { once } from 'node:events';

/** Where a command writes, what it reads its settings from, and when it has to end. */
export type Terminal = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborts when the user has seen enough: on Ctrl+C, or when the reader of a pipe is gone. */
  readonly signal: AbortSignal;
  /** Waits while the reader is slower than we are. */
  write(line: string): Promise<void>;
  complain(line: string): void;
};

export const openTerminal = (): Terminal & Disposable => {
  const ending = new AbortController();
  const end = () => ending.abort();
  const { stdout, stderr } = process;
  stdout.on('error', end);
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  return {
    environment: process.env,
    signal: ending.signal,
    write: async (line) => {
      if (ending.signal.aborted || stdout.write(`${line}\n`)) return;
      await once(stdout, 'drain', { signal: ending.signal }).catch(() => {});
    },
    complain: (line) => void stderr.write(`${line}\n`),
    [Symbol.dispose]: () => {
      process.off('SIGINT', end);
      process.off('SIGTERM', end);
    },
  };
};

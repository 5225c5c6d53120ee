import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type EventStoreProcess = AsyncDisposable & {
  readonly address: string;
  readonly port: number;
  /** SIGSTOP and SIGCONT act at once; any other signal is followed to the end of the process. */
  signal(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  exitCode(): number | null;
};

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

/** The stand-in as a process of its own, to be killed, stopped and started again on the same file and port. */
export const startEventStoreProcess = async ({ port = 0, data }: { port?: number; data?: string } = {}): Promise<EventStoreProcess> => {
  const child = spawn(process.execPath, [MAIN, '--port', `${port}`, ...(data === undefined ? [] : ['--data', data])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const announced: { address: string; port: number } = JSON.parse(await firstLine(child));
  const signal = async (name: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = name === 'SIGSTOP' || name === 'SIGCONT' ? undefined : once(child, 'exit');
    child.kill(name);
    await exited;
  };
  return { ...announced, signal, exitCode: () => child.exitCode, [Symbol.asyncDispose]: () => signal('SIGKILL') };
};

const firstLine = async (child: ChildProcess): Promise<string> => {
  if (!child.stdout) throw new Error('The stand-in was started without a pipe for its address.');
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`The stand-in ended with ${code} before it told its address.`)),
  );
  const [line]: string[] = await Promise.race([once(lines, 'line'), ended]);
  // From here on its end is the caller's business.
  ended.catch(() => {});
  return line ?? '';
};

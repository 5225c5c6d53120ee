import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Order } from './orders.ts';
import type { ServerVersion } from './product.ts';

export type EventStoreProcess = AsyncDisposable & {
  readonly address: string;
  readonly port: number;
  /** SIGSTOP and SIGCONT act at once; for any other signal, waits for the end of the process. */
  signal(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  exitCode(): number | null;
  /** Instructs a node of a cluster; resolves once that is done, or the process has ended. */
  order(order: Order): Promise<void>;
};

type ProcessOptions = {
  readonly port?: number;
  readonly data?: string;
  readonly version?: ServerVersion;
  readonly appendMs?: number;
  /** Several nodes make a cluster: their ports, and those in gossip. */
  readonly nodes?: readonly { readonly port: number; readonly advertised: number }[];
};

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

/** The stand-in as a process of its own, to be killed, stopped and restarted on the same file and port. */
export const startEventStoreProcess = async ({
  port = 0,
  data,
  nodes,
  version,
  appendMs,
}: ProcessOptions = {}): Promise<EventStoreProcess> => {
  const places = nodes?.flatMap((node) => [
    '--port',
    `${node.port}`,
    '--advertised',
    `${node.advertised}`,
  ]) ?? ['--port', `${port}`];
  const given = [
    option('data', data),
    option('version', version),
    option('append-ms', appendMs?.toString()),
  ].flat();
  const child = spawn(process.execPath, [MAIN, ...places, ...given], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const announced: { address: string; port: number } = JSON.parse(await firstLine(child));
  const signal = async (name: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = name === 'SIGSTOP' || name === 'SIGCONT' ? undefined : once(child, 'exit');
    child.kill(name);
    await exited;
  };
  const order = async (given: Order): Promise<void> => {
    const over = new AbortController();
    const outcomes = ['message', 'exit'].map((event) => once(child, event, { signal: over.signal }));
    child.send(given);
    await Promise.race(outcomes);
    over.abort();
    await Promise.allSettled(outcomes);
  };
  return {
    ...announced,
    signal,
    order,
    exitCode: () => child.exitCode,
    [Symbol.asyncDispose]: () => signal('SIGKILL'),
  };
};

const option = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`--${name}`, value];

const firstLine = async (child: ChildProcess): Promise<string> => {
  if (!child.stdout) throw new Error('The stand-in was started without a pipe for its address.');
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`The stand-in ended with ${code} before it printed its address.`)),
  );
  const [line]: string[] = await Promise.race([once(lines, 'line'), ended]);
  // From here on its end is the caller's business.
  ended.catch(() => {});
  return line ?? '';
};

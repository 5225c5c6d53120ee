import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from './data-dir.ts';

/** A Redis of the caller's own, in memory only. */
export type TestRedis = AsyncDisposable & {
  readonly url: string;
  /** Ends the server at once, without notice. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  start(): Promise<void>;
  /** The server keeps its connections, but does not answer. */
  pause(): void;
  resume(): void;
  /** Becomes a replica of the other server. Its connections stay. */
  replicate(other: TestRedis): Promise<void>;
};

const isInstalled = spawnSync('redis-server', ['--version']).status === 0;

/** Why there is no Redis here; such tests are skipped. On CI they fail instead. */
export const redisMissing: string | undefined =
  isInstalled || process.env.CI === 'true'
    ? undefined
    : 'redis-server is not installed (Debian: apt-get install redis-server)';

const STARTS_MAX = 5;

export const startRedis = async ({ password }: { password?: string } = {}): Promise<TestRedis> => {
  if (!isInstalled) throw new Error('redis-server is not installed, and with CI=true it must be');
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryDataDir());
  const started = await startSomewhere(folder.path, password);
  let server: Server | undefined = started.server;
  opening.defer(() => server?.kill());
  const resources = opening.move();
  return {
    url: `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${started.port}`,
    kill: async () => {
      await server?.kill();
      server = undefined;
    },
    start: async () => {
      server = await startOn(started.port, folder.path, password);
    },
    pause: () => server?.signal('SIGSTOP'),
    resume: () => server?.signal('SIGCONT'),
    replicate: (other) => replicate(started.port, other),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const replicate = async (port: number, { url }: TestRedis): Promise<void> => {
  const client = new Redis(port);
  const primary = new URL(url);
  try {
    await client.replicaof(primary.hostname, primary.port);
    await until(
      () => client.info('replication'),
      (info) => info.includes('master_link_status:up'),
    );
  } finally {
    client.disconnect();
  }
};

type Server = { signal(signal: NodeJS.Signals): void; kill(): Promise<void> };

/** Another program may take the port between the choice and the start. */
const startSomewhere = async (
  folder: string,
  password: string | undefined,
): Promise<{ port: number; server: Server }> => {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      return { port, server: await startOn(port, folder, password) };
    } catch (error) {
      if (attempt === STARTS_MAX) throw error;
    }
  }
};

/** The shell reads from this process until that ends, however it ends, and then ends the server. */
const KEEPER =
  'redis-server "$@" < /dev/null & server=$!; echo "$server"; read -r _; kill -KILL "$server"; wait "$server"';

const startOn = async (port: number, folder: string, password: string | undefined): Promise<Server> => {
  const settings = password === undefined ? [] : ['--requirepass', password];
  const logFile = join(folder, 'redis.log');
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--logfile', logFile];
  const keeper = spawn(
    'sh',
    ['-c', KEEPER, 'sh', ...place, '--save', '', '--appendonly', 'no', ...settings],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  );
  const [line] = (await once(keeper.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  const server = {
    signal: (signal: NodeJS.Signals) => void process.kill(pid, signal),
    kill: () => end(keeper),
  };
  try {
    await until(
      () => answeringPid(port, password),
      (answering) => answering === pid,
    );
    return server;
  } catch (cause) {
    await server.kill();
    throw new Error(
      `Redis did not start: ${await readFile(logFile, 'utf8').catch(() => 'it wrote no log')}`,
      { cause },
    );
  }
};

const end = async (keeper: ChildProcess): Promise<void> => {
  if (keeper.exitCode !== null) return;
  const exited = once(keeper, 'exit');
  keeper.stdin?.end();
  await exited;
};

/** The server that answers, in case another one was faster. */
const answeringPid = async (port: number, password: string | undefined): Promise<number | undefined> => {
  const socket = createConnection({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    let answer = '';
    socket.write(`${password === undefined ? '' : `AUTH ${password}\r\n`}INFO server\r\nQUIT\r\n`);
    for await (const chunk of socket) answer += String(chunk);
    return Number(/process_id:(\d+)/.exec(answer)?.[1]);
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
};

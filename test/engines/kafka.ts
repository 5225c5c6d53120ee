import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { stillQueue } from '#adapters/kafka/client.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from './data-dir.ts';
import { fetchKafka, type Ports, settingsOf, USER } from './kafka-server.ts';

/** A Kafka of the caller's own: one process, in KRaft mode. */
export type TestKafka = AsyncDisposable & {
  readonly broker: string;
  /** The entrance of clients that are sent to `detourBy`. */
  readonly detour: string;
  /** The CHANGE_STREAM_URL with a topic. */
  url(topic: string, parameters?: Readonly<Record<string, string>>): string;
  /**
   * The same with the TLS listener, whose certificate is from the tests' authority, and which requires a
   * sign-in.
   */
  secureUrl(topic: string, changes: { ca?: string; password?: string }): string;
  admin<Result>(work: (admin: Admin) => Promise<Result>): Promise<Result>;
  /** Ends the server at once, without notice; its data stays. */
  kill(): Promise<void>;
  /** Starts it again on the same data. */
  start(): Promise<void>;
  /** The server keeps its connections, but does not answer. */
  pause(): void;
  resume(): void;
};

const STARTS_MAX = 3;
const START_MS = 180_000;

export const startKafka = async ({ detourBy }: Pick<Ports, 'detourBy'> = {}): Promise<TestKafka> => {
  await using opening = new AsyncDisposableStack();
  const jars = await fetchKafka();
  const folder = opening.use(await temporaryDataDir());
  const place = await startSomewhere(jars, folder.path, detourBy);
  let { server } = place;
  opening.defer(() => server.kill());
  const broker = `127.0.0.1:${place.ports.plain}`;
  const resources = opening.move();
  return {
    broker,
    detour: `http://127.0.0.1:${place.ports.detour}`,
    url: (topic, parameters = {}) => `kafka://${broker}/${topic}?${new URLSearchParams(parameters)}`,
    secureUrl: (topic, { ca, password = USER.password }) => {
      const parameters = new URLSearchParams({ sasl: 'plain', tls: 'on', ...(ca !== undefined && { ca }) });
      return `kafka://${USER.name}:${encodeURIComponent(password)}@127.0.0.1:${place.ports.secure}/${topic}?${parameters}`;
    },
    admin: (work) => withAdmin(broker, work),
    kill: () => server.kill(),
    start: async () => {
      server = await startOn(place.ports, jars, folder.path);
    },
    pause: () => server.signal('SIGSTOP'),
    resume: () => server.signal('SIGCONT'),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

export const withAdmin = async <Result>(
  broker: string,
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> => {
  stillQueue();
  const kafka = new Kafka({
    brokers: [broker],
    logLevel: logLevel.NOTHING,
    retry: { retries: 0 },
    connectionTimeout: 3_000,
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
};

export type Server = { signal(signal: NodeJS.Signals): void; kill(): Promise<void> };

/** Another program may take a port between the choice and the start. */
const startSomewhere = async (
  jars: string,
  folder: string,
  detourBy: number | undefined,
): Promise<{ ports: Ports; server: Server }> => {
  let isFormatted = false;
  for (let attempt = 1; ; attempt += 1) {
    const [plain, secure, controller, detour] = [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    const ports: Ports = { plain, secure, controller, detour, detourBy };
    await writeFile(join(folder, 'kafka.properties'), settingsOf(ports, folder));
    if (!isFormatted) await format(jars, folder);
    isFormatted = true;
    try {
      return { ports, server: await startOn(ports, jars, folder) };
    } catch (error) {
      if (attempt === STARTS_MAX) throw error;
    }
  }
};

const CLUSTER = 'annals-tests-cluster-1';
const QUICK_START = [
  '-XX:TieredStopAtLevel=1',
  '-XX:+UseSerialGC',
  '-XX:+PerfDisableSharedMem',
  '-Xms96m',
  '-Xmx256m',
];
const LOGGING = [
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.log.kafka.server=info',
];
const command = (jars: string): readonly string[] => [...QUICK_START, ...LOGGING, '-cp', join(jars, '*')];

export const format = async (jars: string, folder: string): Promise<void> => {
  const settings = join(folder, 'kafka.properties');
  await promisify(execFile)('java', [
    ...command(jars),
    'kafka.tools.StorageTool',
    'format',
    '-t',
    CLUSTER,
    '-c',
    settings,
  ]);
};

/** The shell reads from this process until that ends, however it ends, and then ends the server. */
const KEEPER =
  'java "$@" < /dev/null > "$LOG" 2>&1 & server=$!; echo "$server"; read -r _; kill -KILL "$server"; wait "$server"';

/** Waits until it knows `brokersWanted` brokers. */
export const startOn = async (
  ports: Ports,
  jars: string,
  folder: string,
  brokersWanted = 1,
): Promise<Server> => {
  const log = join(folder, 'kafka.log');
  const keeper = spawn(
    'sh',
    ['-c', KEEPER, 'sh', ...command(jars), 'kafka.Kafka', join(folder, 'kafka.properties')],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, LOG: log },
    },
  );
  const [line] = (await once(keeper.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  const server = {
    signal: (signal: NodeJS.Signals) => void process.kill(pid, signal),
    kill: () => end(keeper),
  };
  const printed = () => readFile(log, 'utf8').catch(() => '');
  try {
    await until(printed, (text) => /Kafka Server started/.test(text), START_MS);
    await until(
      () =>
        withAdmin(`127.0.0.1:${ports.plain}`, (admin) => admin.describeCluster()).then(
          ({ brokers }) => brokers.length,
          () => 0,
        ),
      (brokers) => brokers >= brokersWanted,
      START_MS,
    );
    return server;
  } catch (cause) {
    await server.kill();
    throw new Error(`Kafka did not start: ${(await printed()).slice(-4_000)}`, { cause });
  }
};

const end = async (keeper: ChildProcess): Promise<void> => {
  if (keeper.exitCode !== null) return;
  const exited = once(keeper, 'exit');
  keeper.stdin?.end();
  await exited;
};

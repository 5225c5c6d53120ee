import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import type { Cuttable } from '../../engines/cuttable.ts';
import { openCuttable } from '../../engines/cuttable.ts';
import { temporaryDataDir } from '../../engines/data-dir.ts';
import type { Order } from '../../engines/eventstoredb/orders.ts';
import { type EventStoreProcess, startEventStoreProcess } from '../../engines/eventstoredb/process.ts';
import { startKafka, type TestKafka } from '../../engines/kafka.ts';
import { startRedis, type TestRedis } from '../../engines/redis.ts';
import { type PostgresServer, startPostgresServer } from './postgres-server.ts';

/** A network path that can be disturbed. */
export type Way = Pick<Cuttable, 'cut' | 'stall' | 'mend'>;

export type LogEngine = 'postgres' | 'eventstoredb';

/** The engines of an installation at scale, each behind a path that can be cut. */
export type Engines = AsyncDisposable & {
  readonly postgres: PostgresServer;
  readonly kafka: TestKafka;
  readonly redis: TestRedis;
  /** Set if the log is not in PostgreSQL. It stores its answers in a file. */
  readonly eventStore: EventStoreServer | undefined;
  readonly ways: Readonly<Record<'database' | 'log' | 'kafka' | 'redis', Way>>;
  /** The settings of the roles, with those paths. */
  readonly settings: Readonly<Record<string, string>>;
  /** The direct addresses, for the observer. */
  readonly straight: { readonly databaseUrl: string; readonly eventLogUrl: string };
};

/** A cluster in one process. */
export type EventStoreServer = {
  readonly nodes: number;
  leader(): number;
  order(order: Order): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
};

const TOPIC = 'changes';

export const startEngines = async (logEngine: LogEngine): Promise<Engines> => {
  await using opening = new AsyncDisposableStack();
  const postgres = opening.use(await startPostgresServer());
  const redis = opening.use(await startRedis());
  let kafka: TestKafka | undefined;
  const toKafka = opening.use(await openCuttable(() => kafka?.detour ?? ''));
  kafka = opening.use(await startKafka({ detourBy: toKafka.port }));
  const eventStore = logEngine === 'eventstoredb' ? opening.use(await startEventStore()) : undefined;
  const through = async (url: string): Promise<{ way: Cuttable; url: string }> => {
    const way = opening.use(await openCuttable(url));
    return { way, url: Object.assign(new URL(url), { port: String(way.port) }).href };
  };
  const [database, jobs] = [await through(postgres.url), await through(redis.url)];
  const eventLogUrl = eventStore?.url ?? (await postgres.createDatabase('log'));
  const log = eventStore?.through ?? (await through(eventLogUrl));
  const resources = opening.move();
  return {
    postgres,
    kafka,
    redis,
    eventStore,
    ways: { database: database.way, log: log.way, kafka: toKafka, redis: jobs.way },
    settings: {
      DATABASE_URL: database.url,
      EVENT_LOG_URL: log.url,
      CHANGE_STREAM_URL: `kafka://127.0.0.1:${toKafka.port}/${TOPIC}`,
      JOB_QUEUE_URL: jobs.url,
      RATE_LIMIT_URL: jobs.url,
    },
    straight: { databaseUrl: postgres.url, eventLogUrl },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

type StartedEventStore = AsyncDisposable &
  EventStoreServer & {
    readonly url: string;
    /** With all hosts. */
    readonly through: { readonly way: Way; readonly url: string };
  };

const NODES = 3;

const startEventStore = async (): Promise<StartedEventStore> => {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryDataDir());
  const data = `${folder.path}/log.jsonl`;
  const nodes: { port: number; advertised: number; way: Cuttable }[] = [];
  for (let node = 0; node < NODES; node += 1) {
    const port = await freePort();
    const way = opening.use(await openCuttable(`http://127.0.0.1:${port}`));
    nodes.push({ port, way, advertised: way.port });
  }
  const start = () => startEventStoreProcess({ nodes, data });
  let [server, leader]: [EventStoreProcess, number] = [await start(), 0];
  opening.defer(() => server[Symbol.asyncDispose]());
  const resources = opening.move();
  return {
    url: `esdb://127.0.0.1:${nodes[0]?.port}?tls=false`,
    through: {
      way: together(nodes.map(({ way }) => way)),
      url: `esdb://${nodes.map(({ advertised }) => `127.0.0.1:${advertised}`).join()}?tls=false`,
    },
    nodes: NODES,
    leader: () => leader,
    order: async (order) => {
      if (order.does === 'lead') leader = order.node;
      await server.order(order);
    },
    kill: () => server.signal('SIGKILL'),
    start: async () => {
      [server, leader] = [await start(), 0];
    },
    pause: () => server.signal('SIGSTOP'),
    resume: () => server.signal('SIGCONT'),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** Paths that are disturbed together. */
const together = (ways: readonly Cuttable[]): Way => ({
  cut: () => void ways.map((way) => way.cut()),
  stall: () => void ways.map((way) => way.stall()),
  mend: () => void ways.map((way) => way.mend()),
});

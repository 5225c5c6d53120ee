import { freePort } from '#shared/database/embedded/free-port.ts';
import type { Cuttable } from '../../engines/cuttable.ts';
import { openCuttable } from '../../engines/cuttable.ts';
import { temporaryDataDir } from '../../engines/data-dir.ts';
import { type EventStoreProcess, startEventStoreProcess } from '../../engines/eventstoredb/process.ts';
import { startKafka, type TestKafka } from '../../engines/kafka.ts';
import { startRedis, type TestRedis } from '../../engines/redis.ts';
import { type PostgresServer, startPostgresServer } from './postgres-server.ts';

export type LogEngine = 'postgres' | 'eventstoredb';

/** The engines of an installation at scale, each reached by a way that can be cut. */
export type Engines = AsyncDisposable & {
  readonly postgres: PostgresServer;
  readonly kafka: TestKafka;
  readonly redis: TestRedis;
  /** Where the log is not in PostgreSQL. It keeps what it has answered in a file. */
  readonly eventStore: EventStoreServer | undefined;
  readonly ways: Readonly<Record<'database' | 'log' | 'kafka' | 'redis', Cuttable>>;
  /** As the roles have them, by those ways. */
  readonly settings: Readonly<Record<string, string>>;
  /** The same, straight: for whoever looks on. */
  readonly straight: { readonly databaseUrl: string; readonly eventLogUrl: string };
};

type EventStoreServer = {
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
  const eventLogUrl = eventStore?.url ?? (await postgres.createDatabase('log'));
  const through = async (url: string): Promise<{ way: Cuttable; url: string }> => {
    const way = opening.use(await openCuttable(url));
    return { way, url: Object.assign(new URL(url), { port: String(way.port) }).href };
  };
  const [database, log, jobs] = [await through(postgres.url), await through(eventLogUrl), await through(redis.url)];
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

const startEventStore = async (): Promise<AsyncDisposable & EventStoreServer & { readonly url: string }> => {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryDataDir());
  const data = `${folder.path}/log.jsonl`;
  let server: EventStoreProcess = await startEventStoreProcess({ port: await freePort(), data });
  const { address, port } = server;
  opening.defer(() => server[Symbol.asyncDispose]());
  const resources = opening.move();
  return {
    url: address,
    kill: () => server.signal('SIGKILL'),
    start: async () => {
      server = await startEventStoreProcess({ port, data });
    },
    pause: () => server.signal('SIGSTOP'),
    resume: () => server.signal('SIGCONT'),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

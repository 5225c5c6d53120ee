import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { startEventStoreStandIn } from './eventstoredb/server.ts';
import { startRedis } from './redis.ts';

/** The engines of an installation beside its database, empty and its own. */
type Engines = AsyncDisposable & { readonly settings: Readonly<Record<string, string>> };

/**
 * Everything in PostgreSQL; or the log in EventStoreDB, changes through Kafka, and the queue of webhooks and
 * rate limits in Redis.
 */
type EngineSet = 'embedded' | 'at-scale';

/**
 * The projects `replicas` and `journeys` name one, and run each role in replicas behind the ingress; the
 * others run all roles in one process.
 */
export const engineSetOfRun = (): EngineSet | undefined => {
  const named = process.env.ANNALS_ENGINES;
  if (named === undefined || named === 'embedded' || named === 'at-scale') return named;
  throw new Error(`ANNALS_ENGINES is embedded or at-scale, not ${named}`);
};

export const startEngines = async (): Promise<Engines> => {
  const engineSet = engineSetOfRun();
  const broker = inject('kafkaBroker');
  // Without a broker, nothing is tested at scale (demand-engines.ts).
  if (engineSet === 'at-scale' && broker !== undefined) return startAtScale(broker);
  // In memory each replica would count separately.
  return {
    settings: engineSet === undefined ? {} : { RATE_LIMIT_URL: 'postgres:' },
    [Symbol.asyncDispose]: async () => {},
  };
};

const startAtScale = async (broker: string): Promise<Engines> => {
  await using opening = new AsyncDisposableStack();
  const log = opening.use(await startEventStoreStandIn());
  const redis = opening.use(await startRedis());
  const resources = opening.move();
  return {
    settings: {
      EVENT_LOG_URL: log.address,
      // All installations of a run share one Kafka.
      CHANGE_STREAM_URL: `kafka://${broker}/changes.${randomUUID()}`,
      JOB_QUEUE_URL: redis.url,
      RATE_LIMIT_URL: redis.url,
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

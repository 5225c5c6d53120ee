import type { Registry } from 'prom-client';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Config } from '#shared/config.ts';
import { observePool } from '#shared/database/observe-pool.ts';
import { isFirstStart, openDatabase } from '#shared/database/open-database.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { applyErasures } from '#shared/erasure/apply.ts';
import { type ErasureList, openErasureList } from '#shared/erasure/erasure-list.ts';
import { demandKeys } from '#shared/erasure/lost-keys.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { guardHistory } from '#shared/event-log/guard-history.ts';
import { openConfiguredEventLog } from '#shared/event-log/open-configured.ts';
import { tellOutages } from '#shared/event-log/tell-outages.ts';
import { Health } from '#shared/http/health.ts';
import { demandFreePorts } from '#shared/http/listen.ts';
import { type KeyStore, MasterKeyMismatch } from '#shared/keys/key-store.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { createMetrics } from '#shared/metrics.ts';
import { openRateLimits } from '#shared/rate-limit/open.ts';
import type { RateLimits } from '#shared/rate-limit/rate-limit.ts';
import type { ProcessContext } from '#shared/run.ts';
import { StartRefused } from '#shared/start-refused.ts';
import { openTracing } from '#shared/tracing/open.ts';
import { traceAppends } from '#shared/tracing/trace-appends.ts';
import type { Tracing } from '#shared/tracing/tracing.ts';
import { watchFoundation } from '#shared/watch-foundation.ts';

/** What every role stands on. */
export type Foundation = {
  /** What the roles serve. */
  readonly domain: Domain;
  readonly metrics: Registry;
  readonly health: Health;
  /** Of the database, for connections of one's own. */
  readonly databaseUrl: string;
  /** Of the same database without a pooler, where one is in between. */
  readonly directUrl: string | undefined;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly masterKey: MasterKey;
  readonly keys: KeyStore;
  /** Who was erased, outside the database; it was applied before anything else could open a key. */
  readonly erasures: ErasureList;
  readonly rateLimits: RateLimits;
  readonly tracing: Tracing;
};

const CONNECTIONS_MAX = 8;

/** Opens the database, the event log and the keys that the settings name; they close when the process stops. Traces show it as this service. */
export const openFoundation = async (context: ProcessContext, service: string, { isReader = false } = {}): Promise<Foundation> => {
  const { config, log, domain, resources, signal } = context;
  const health = new Health(log);
  const metrics = createMetrics();
  const { tracing: settings, environment } = config;
  const tracing = resources.use(await openTracing({ settings, service, environment, log, metrics }));
  if (await isFirstStart(config))
    await demandFreePorts([
      { ...config.http, setting: 'PORT' },
      { ...config.metrics, setting: 'METRICS_PORT' },
    ]);
  const database = resources.use(await openDatabase(config, { log, signal }));
  const pool = resources.use(openPool({ url: database.url, applicationName: 'annals', connectionsMax: CONNECTIONS_MAX }));
  observePool(metrics, 'annals', pool);
  const { databaseDirectUrl: directUrl } = config;
  const openedLog = await openConfiguredEventLog({ eventLogUrl: config.eventLogUrl, databaseUrl: database.url, directUrl });
  const guarded = resources.use(guardHistory(tellOutages(openedLog, { log }), { log }));
  demandNothingLost(openedLog);
  const eventLog = traceAppends(guarded, tracing);
  const masterKey = await openMasterKey(config);
  const keys = resources.use(await openPostgresKeyStore({ pool, masterKey }).catch(refuseStart));
  const erasures = openErasureList(config.audit.dir);
  await demandKeys({ pool, eventLog, erasures }, signal);
  await applyErasures({ domain, pool, keys, erasures, log });
  const rateLimits = resources.use(await openRateLimits({ url: rateLimitUrl(config, database.url), log }));
  watchFoundation(health, { database, pool, eventLog, history: guarded, metrics, isReader });
  return { domain, metrics, health, databaseUrl: database.url, directUrl, pool, eventLog, masterKey, keys, erasures, rateLimits, tracing };
};

/** The embedded database has an address that no setting can know. */
const rateLimitUrl = ({ rateLimits: { url } }: Config, databaseUrl: string): string => (/^postgres(ql)?:$/.test(url) ? databaseUrl : url);

/** Its end would be taken for what was there before, by all who have cursors of that. */
const demandNothingLost = ({ identity, lost }: Pick<EventLog, 'identity' | 'lost'>): void => {
  if (!lost?.includes(identity)) return;
  throw new StartRefused(
    'The event log has lost events that were here, and nobody has decided how it goes on: ' +
      'do as docs/runbooks.md says under “The log went back”. `npm run annals -- log renew` goes on with what is there.',
  );
};

const refuseStart = (error: unknown): never => {
  if (error instanceof MasterKeyMismatch) throw new StartRefused(`${error.message}.`, { cause: error });
  throw error;
};

import type { Registry } from 'prom-client';
import { openDatabase } from '#shared/database/open-database.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { openEventLog } from '#shared/event-log/open.ts';
import { Health } from '#shared/http/health.ts';
import { type KeyStore, MasterKeyMismatch } from '#shared/keys/key-store.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { createMetrics } from '#shared/metrics.ts';
import type { ProcessContext } from '#shared/run.ts';
import { StartRefused } from '#shared/start-refused.ts';

/** What every role stands on. */
export type Foundation = {
  readonly metrics: Registry;
  readonly health: Health;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly masterKey: MasterKey;
  readonly keys: KeyStore;
};

const CONNECTIONS_MAX = 8;

/** Opens the database, the event log and the keys that the settings name; they close when the process stops. */
export const openFoundation = async ({ config, log, resources }: ProcessContext): Promise<Foundation> => {
  const health = new Health(log);
  const database = resources.use(await openDatabase(config, log));
  const pool = resources.use(openPool({ url: database.url, applicationName: 'annals', connectionsMax: CONNECTIONS_MAX }));
  const eventLog = resources.use(await openEventLog({ url: config.eventLogUrl ?? database.url }));
  const masterKey = await openMasterKey(config);
  const keys = resources.use(await openPostgresKeyStore({ pool, masterKey }).catch(refuseStart));
  health.add('database', () => pool.query('select 1'));
  health.add('event log', () => eventLog.head());
  return { metrics: createMetrics(), health, pool, eventLog, masterKey, keys };
};

const refuseStart = (error: unknown): never => {
  if (error instanceof MasterKeyMismatch) throw new StartRefused(`${error.message}.`, { cause: error });
  throw error;
};

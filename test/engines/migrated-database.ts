import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { migrateRevocations } from '#edge/authenticate/revocations.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { migrateOperations } from '#process/operations/migrate.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { migrateEventIndex } from '#shared/event-index/event-index.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { createReadModel } from '#shared/projection/schema.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { migrateSnapshots } from '#shared/snapshots/snapshots.ts';
import { migrateClients } from '../../auth/clients/client-table.ts';
import { migratePasswordResets } from '../../auth/password-reset/reset-table.ts';
import { migrateAccounts } from '../../auth/persons/person-table.ts';
import { migrateSigningKeys } from '../../auth/signing-keys/statements.ts';
import { migrateAuthStorage } from '../../auth/storage/statements.ts';
import { migrateProcessManager } from '../../command/process-manager/process-manager.ts';
import { migrateProjector } from '../../projector/migrate.ts';
import { migratePersistedDocuments } from '../../query/graphql/documents/persisted-documents.ts';
import { scaled } from '../../testing/load.ts';
import { migrateLedger } from '../../webhook-dispatcher/ledger/migrate.ts';
import { openDeliveryQueue } from '../../webhook-dispatcher/queue/open.ts';
import { createDatabase, type TestDatabase } from './database.ts';

/** The tables of every domain; or those, and the read model of publishing. */
type Migrated = 'every domain' | 'publishing';

const TEMPLATES: Readonly<Record<Migrated, string>> = {
  'every domain': 'template_every_domain',
  publishing: 'template_publishing',
};

/**
 * A database in which the migrations have been done: a copy costs a tenth of them. For tests that are not
 * about a first start.
 */
export const createMigratedDatabase = async (migrated: Migrated = 'every domain'): Promise<TestDatabase> => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase({ template: await templateOf(migrated) }));
  // Cursors and checkpoints tell logs apart by it.
  await inServer(database.name, (client) => client.query('update event_log.identity set id = default'));
  const resources = opening.move();
  return { ...database, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

export const createPublishingDatabase = (): Promise<TestDatabase> => createMigratedDatabase('publishing');

const templateOf = (migrated: Migrated): Promise<string> => {
  const known = made.get(migrated);
  if (known !== undefined) return known;
  const making = makeOnce(migrated);
  made.set(migrated, making);
  making.catch(() => made.delete(migrated));
  return making;
};

const made = new Map<Migrated, Promise<string>>();

/** Workers run in parallel: the first makes a template for all. */
const makeOnce = async (migrated: Migrated): Promise<string> => {
  const template = TEMPLATES[migrated];
  await inServer(undefined, async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [template]);
    const found = await client.query('select from pg_database where datname = $1', [template]);
    if (found.rowCount === 1) return;
    const name = await make(migrated);
    // A copy fails while anybody is connected to its template.
    await client.query(`alter database ${name} with allow_connections false`);
    await client.query(`alter database ${name} rename to ${template}`);
  });
  return template;
};

/** With odd settings, as every database of a test: migrations must not depend on them. */
const make = async (migrated: Migrated): Promise<string> => {
  const from = migrated === 'publishing' ? await templateOf('every domain') : 'template0';
  const { name } = await createDatabase({ template: from });
  const url = addressOf(name);
  await using pool = openPool({ url, applicationName: 'template', connectionsMax: 2 });
  if (migrated === 'publishing') await createReadModel(pool, tablesOf(publishing), LIVE_SCHEMA);
  else await migrateAll(url, pool);
  return name;
};

/** A component that is missing here is migrated by whoever uses the copy, as in an upgrade. */
const migrateAll = async (url: string, pool: Pool): Promise<void> => {
  await (await openEventLog({ url, clock: REAL_TIME }))[Symbol.asyncDispose]();
  await openPostgresKeyStore({ pool, masterKey: parseMasterKey(randomBytes(32).toString('base64')) });
  const log = pino({ level: 'silent' });
  await (await openDeliveryQueue({ url, name: 'template', log, clock: REAL_TIME }))[Symbol.asyncDispose]();
  // Each copy has a master key of its own.
  await pool.query('delete from public.master_key_check');
  for (const migrate of [
    migrateProjector,
    migrateProcessManager,
    migrateSnapshots,
    migrateAudit,
    migrateEventIndex,
    migrateOperations,
    migrateLedger,
    migrateRevocations,
    migrateAuthStorage,
    migrateSigningKeys,
    migrateClients,
    migrateAccounts,
    migratePasswordResets,
    migratePersistedDocuments,
  ])
    await migrate(pool);
};

/** Past any pooler, which would keep connections to a template. */
const inServer = async (name: string | undefined, work: (client: pg.Client) => Promise<unknown>) => {
  const client = new pg.Client({
    connectionString: name === undefined ? inject('postgresUrl') : addressOf(name),
    connectionTimeoutMillis: scaled(10_000),
  });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
};

const addressOf = (name: string): string => {
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return url.href;
};

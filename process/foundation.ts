// Over 200 lines, because it is one start: what every role needs, in the order in which it opens.
import { setTimeout as delay } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { Health } from '#edge/http/health.ts';
import { demandFreePorts } from '#edge/http/listen.ts';
import type { RateLimits } from '#edge/rate-limit/rate-limit.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Database, isFirstStart, openDatabase } from '#process/engines/open-database.ts';
import { openRateLimits } from '#process/engines/open-rate-limits.ts';
import { type AuthenticEvents, openAuthenticEvents } from '#shared/authentic-events/authentic-events.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { startNamingEvents } from '#shared/cursor-form/cursor-form.ts';
import { demandWritable } from '#shared/database/demand-writable.ts';
import { demandNoImport } from '#shared/database/lease/import-lease.ts';
import { observePool } from '#shared/database/observe-pool.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { applyErasures } from '#shared/erasure/apply.ts';
import { type ErasureList, openErasureList } from '#shared/erasure/erasure-list.ts';
import { demandKeys } from '#shared/erasure/lost-keys.ts';
import { LogWentBack } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { GuardedLog } from '#shared/event-log/guard-history.ts';
import { keepLogOwner } from '#shared/event-log/owner/owner.ts';
import { demandMoving } from '#shared/follower/observe-follower.ts';
import { type KeyStore, MasterKeyMismatch } from '#shared/keys/key-store.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { NotReady } from '#shared/not-ready.ts';
import { NO_ROW_PROOFS } from '#shared/row-proofs/none.ts';
import type { RowProofs } from '#shared/row-proofs/row-proofs.ts';
import { keepServedDomain } from '#shared/served-domain/served-domain.ts';
import { traceAppends } from '#shared/tracing/trace-appends.ts';
import type { Tracing } from '#shared/tracing/tracing.ts';
import { demandIssuer } from './demand-issuer.ts';
import { demandScopesFit } from './demand-scopes-fit.ts';
import { isOnSharedServer } from './engines/open-event-log.ts';
import { openGuardedLog } from './engines/open-guarded-event-log.ts';
import { openTracing } from './engines/open-tracing.ts';
import { createMetrics } from './observability/metrics.ts';
import type { ProcessContext } from './run.ts';
import { foundationConnections } from './workers/connections.ts';
import { primaryArrivals } from './workers/primary-arrivals.ts';

/** The resources that every role needs. */
export type Foundation = {
  /** The domain that the roles serve. */
  readonly domain: Domain;
  readonly clock: Clock;
  readonly metrics: Registry;
  readonly health: Health;
  /** Of the database, for connections outside the pool. */
  readonly databaseUrl: string;
  /** Of the same database without a pooler, if there is one in between. */
  readonly directUrl: string | undefined;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly masterKey: MasterKey;
  readonly keys: KeyStore;
  /** Of the tables whose rows let somebody act. */
  readonly rowProofs: RowProofs;
  /** The list of erased persons, outside the database; applied before anything else can decrypt data. */
  readonly erasures: ErasureList;
  readonly rateLimits: RateLimits;
  readonly tracing: Tracing;
  /** The number of this installation among cells. */
  readonly cell: number | undefined;
};

const CONNECTIONS_MAX = 8;

/**
 * Opens the database, the event log and the keys of the settings; they close when the process stops. Traces
 * name it by this service.
 */
export const openFoundation = async (
  context: ProcessContext,
  service: string,
  { isReader = false } = {},
): Promise<Foundation> => {
  const { config, log, domain, clock, resources, signal, worker } = context;
  demandIssuer(domain, config);
  demandScopesFit(domain, { ...config.limits, ingressSecret: config.ingressSecret });
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
  const pool = resources.use(
    openPool({
      url: database.url,
      applicationName: 'annals',
      connectionsMax: worker === undefined ? CONNECTIONS_MAX : foundationConnections(config.workers),
      connectionsMin: 2,
      clock,
    }),
  );
  observePool(metrics, 'annals', pool);
  if (!isReader) await demandNoImport(pool);
  await keepServedDomain(pool, domain);
  const namesEvents = await startNamingEvents(pool, { clock, signal });
  const masterKey = await openMasterKey(config);
  const keys = resources.use(await openPostgresKeyStore({ pool, masterKey }).catch(refuseStart));
  const auditDir = config.audit.dir;
  const rowProofs = serves(domain, 'accounts')
    ? (await import('#shared/row-proofs/open.ts')).openRowProofs({ auditDir, pool, masterKey, clock, log })
    : NO_ROW_PROOFS;
  const erasures = openErasureList(auditDir);
  const authentic = resources.use(openAuthenticEvents({ pool, masterKey, auditDir, clock, log, isReader }));
  // After all that may refuse the start without it: opening a log that does not exist creates it.
  const guarded = resources.use(await openLog({ ...context, database, pool, isReader, authentic }));
  const eventLog = traceAppends({ ...guarded, namesEvents }, tracing);
  const rateLimits = resources.use(
    await openLimits(context, { databaseUrl: database.url, installation: eventLog.identity }),
  );
  await demandKeys({ pool, eventLog, erasures }, signal);
  await applyErasures({ domain, pool, keys, erasures, log });
  const watching = { pool, clock, metrics, log, role: service, source: config.clockSource, isReader };
  resources.use((await import('./watch-clock.ts')).watchClock(watching));
  watchFoundation(health, { database, pool, eventLog, history: guarded, authentic, metrics, isReader });
  return {
    domain,
    clock,
    metrics,
    health,
    databaseUrl: database.url,
    directUrl: config.databaseDirectUrl,
    pool,
    eventLog,
    masterKey,
    keys,
    rowProofs,
    erasures,
    rateLimits,
    tracing,
    cell: config.cell,
  };
};

type OfInstallation = { readonly databaseUrl: string; readonly installation: string };

type Opening = Pick<ProcessContext, 'config' | 'log' | 'clock'> &
  Pick<Watched, 'database' | 'pool' | 'isReader'> & { readonly authentic: AuthenticEvents };

const openLog = async ({
  config,
  log,
  clock,
  database,
  pool,
  isReader,
  authentic,
}: Opening): Promise<GuardedLog> => {
  const { eventLogUrl, eventLogPrefix, databaseDirectUrl: directUrl } = config;
  return openGuardedLog({
    ...{ eventLogUrl, eventLogPrefix, databaseUrl: database.url, directUrl },
    owner: isOnSharedServer(eventLogUrl) ? await keepLogOwner(pool) : undefined,
    auditDir: config.audit.dir,
    ...{ log, clock, isReader, authentic },
  });
};

/** The embedded database has an address that no setting can know. */
const openLimits = (
  { config, log, clock, worker }: ProcessContext,
  { databaseUrl, installation }: OfInstallation,
): Promise<RateLimits> => {
  const { url } = config.rateLimits;
  const primary = worker && primaryArrivals(worker.primary);
  return openRateLimits({
    url: /^postgres(ql)?:$/.test(url) ? databaseUrl : url,
    ...{ installation, log, clock, primary },
  });
};

const refuseStart = (error: unknown): never => {
  if (error instanceof MasterKeyMismatch) throw new StartRefused(`${error.message}.`, { cause: error });
  throw error;
};

type Watched = {
  readonly database: Database;
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'check'>;
  readonly history: Pick<GuardedLog, 'demandHistory'>;
  readonly authentic: Pick<AuthenticEvents, 'check'>;
  /** Has a metric for each follower. */
  readonly metrics: Registry;
  /** Whether the role only serves reads: it needs neither a writable database nor the log. */
  readonly isReader: boolean;
};

/** Adds the resources of every role to `/readyz`. */
const watchFoundation = (
  health: Pick<Health, 'add'>,
  { database, pool, eventLog, history, authentic, metrics, isReader }: Watched,
): void => {
  health.add('database', async () => {
    const trouble = database.trouble?.();
    if (trouble !== undefined) throw new NotReady(trouble);
    if (isReader) await pool.query('select 1');
    else await demandWritable(pool, 'database');
  });
  health.add('event log', () => eventLog.check(), { isRequired: !isReader });
  health.add('event log history', () => demandHistory(history));
  health.add('authentic events', () => authentic.check(), { isRequired: false });
  if (isReader) return;
  health.add('followers', () => demandMoving(metrics, { isRequired: true }));
  health.add('followers that may lag', () => demandMoving(metrics, { isRequired: false }), {
    isRequired: false,
  });
};

/** Less than the timeout of a check. */
const HISTORY_MAX_MS = 1_000;

/** A log that does not respond says nothing about its history; another check reports that it does not. */
const demandHistory = async (history: Watched['history']): Promise<void> => {
  const waiting = new AbortController();
  const looking = history.demandHistory().catch((cause: unknown) => {
    if (cause instanceof LogWentBack) throw new NotReady('The event log has lost events.', { cause });
  });
  try {
    await Promise.race([looking, delay(HISTORY_MAX_MS, undefined, { signal: waiting.signal, ref: false })]);
  } finally {
    waiting.abort();
    looking.catch(() => {});
  }
};

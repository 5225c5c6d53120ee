import type { Registry } from 'prom-client';
import type { Domain } from '#kernel/registry/registry.ts';
import type { AuditSettings } from '#process/config.ts';
import { openPublishedFiles } from '#process/engines/open-published-files.ts';
import { startExecuting } from '#process/operations/execute-operator-commands.ts';
import {
  finishOperatorCommand,
  recordProgress,
  type TakenOperatorCommand,
} from '#process/operations/operator-commands.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { createSnapshots } from '#shared/snapshots/snapshots.ts';
import { startChain } from './chain/follow-chain.ts';
import { forgetWitnesses } from './cosign/witness-rows.ts';
import { headFilesIn } from './heads/head-files.ts';
import { startHeads } from './heads/service.ts';
import { readChainEnd } from './stored/blocks.ts';
import { readPublication } from './stored/publication.ts';
import type { Verification } from './verify/plan.ts';
import { summaryOf } from './verify/summary.ts';
import { verify } from './verify/verify.ts';
import { gauge } from './watch/gauge.ts';
import { startWatch, type WatchOptions } from './watch/service.ts';

type AuditDependencies = Omit<WatchOptions, 'eventsPerSecond'> & {
  readonly masterKey: MasterKey;
  readonly settings: AuditSettings;
};

/** The number of events that the chain covers. */
export const countChained = async (pool: Pool): Promise<number> => (await readChainEnd(pool)).count;

/**
 * The audit of the log: the chain, its signed heads, and a continuous verification. One of several processes
 * runs each of them.
 */
export const startAudit = async (dependencies: AuditDependencies): Promise<AsyncDisposable> => {
  const { settings } = dependencies;
  await using opening = new AsyncDisposableStack();
  await migrateAudit(dependencies.pool);
  observeAudit(dependencies);
  // Started first, so stopped last: the final state of the chain is signed.
  opening.use(
    await startHeads({ ...dependencies, files: headFilesIn(settings.dir), everyMs: settings.headEveryMs }),
  );
  const witnesses = await witnessesOf(dependencies);
  if (witnesses !== undefined) opening.use(witnesses);
  const published = await publishedOf(dependencies);
  if (published !== undefined) opening.use(published);
  const onHead = (note: string) => {
    for (const place of [witnesses, published]) place?.offer(note);
  };
  opening.use(await startChain({ ...dependencies, auditDir: settings.dir, onHead }));
  const eventsPerSecond = settings.watchEventsPerSecond;
  if (eventsPerSecond > 0) opening.use(await startWatch({ ...dependencies, eventsPerSecond }));
  opening.use(await startVerificationCommands(dependencies));
  const resources = opening.move();
  return { [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** The code is loaded only if there is a place. */
const publishedOf = async ({ settings, ...dependencies }: AuditDependencies) => {
  if (settings.treeUrl === undefined) return undefined;
  await using opening = new AsyncDisposableStack();
  const files = opening.use(await openPublishedFiles(settings.treeUrl, 'AUDIT_TREE_URL'));
  const { startPublishing } = await import('./published/service.ts');
  const { offer } = opening.use(startPublishing({ ...dependencies, files }));
  const resources = opening.move();
  return { offer, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** Their code is loaded only if there are some. */
const witnessesOf = async ({ settings, ...dependencies }: AuditDependencies) => {
  if (settings.witnesses === undefined) return void (await forgetWitnesses(dependencies.pool));
  const { startWitnesses } = await import('./cosign/service.ts');
  return startWitnesses({ ...dependencies, setting: settings.witnesses });
};

/**
 * Metrics of the proof, whichever process builds it. The lag of the chain is reported like that of every
 * follower.
 */
const observeAudit = ({ pool, metrics }: { readonly pool: Pool; readonly metrics: Registry }): void => {
  const signed = async () => (await readPublication(pool)).count;
  const chained = () => countChained(pool);
  gauge(
    metrics,
    { name: 'annals_audit_chained_events', help: 'Events of the log that the hash chain covers.' },
    chained,
  );
  gauge(
    metrics,
    {
      name: 'annals_audit_signed_events',
      help: 'Events covered by a signed head outside the database.',
    },
    signed,
  );
  gauge(
    metrics,
    {
      name: 'annals_audit_unproven_events',
      help: 'Events of the chain after the newest head outside the database.',
    },
    async () => Math.max((await chained()) - (await signed()), 0),
  );
  gauge(
    metrics,
    {
      name: 'annals_audit_heads_refused',
      help: '1 while heads are not published: the heads outside the database contradict the chain, or cannot be written.',
    },
    async () => ((await readPublication(pool)).problem === null ? 0 : 1),
  );
};

type Dependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly databaseUrl: string;
  readonly eventLog: EventLog;
  readonly keys: KeyStore;
  readonly masterKey: MasterKey;
  readonly log: Log;
  readonly settings: Pick<AuditSettings, 'dir'>;
  readonly clock: Clock;
};

/** Runs a full verification for operator commands from the console, like the command line. */
export const startVerificationCommands = (dependencies: Dependencies): Promise<AsyncDisposable> =>
  startExecuting({
    name: 'operations-verification',
    pool: dependencies.pool,
    log: dependencies.log,
    clock: dependencies.clock,
    kinds: ['verify'],
    execute: (command, signal) => verifyFor(dependencies, command, signal),
  });

/**
 * Enough connections to write a page of events in parallel, and time for an index on a large table. They
 * exist only during a verification.
 */
const CONNECTIONS = { connectionsMax: 10, statementTimeoutMs: 4 * 3_600_000 };

const verifyFor = async (
  dependencies: Dependencies,
  command: TakenOperatorCommand,
  signal: AbortSignal,
): Promise<void> => {
  const { domain, pool, databaseUrl, eventLog, keys, masterKey, settings, clock } = dependencies;
  const name = `annals-verify-${command.id}`;
  await using own = openPool({ url: databaseUrl, applicationName: name, clock, ...CONNECTIONS });
  using _stop = cancelOnStop(pool, name, signal);
  const report = await verify({
    ...{
      pool: own,
      eventLog,
      codec: createCodec({ keys, domain }),
      domain,
      tables: tablesOf(domain),
      masterKey,
      auditDir: settings.dir,
      snapshots: createSnapshots({ pool: own, keys, masterKey, eventLog }),
      given: { heads: [], keys: [] },
    },
    isOfReadModel: true,
    showPersonal: false,
    signal,
    onProgress: progressReporter({ pool, clock }, command),
    pause: (workedMs) => clock.sleep(Math.min(workedMs, REST_MAX_MS)),
  });
  const [outcome = report.outcome] = summaryOf(report);
  await finishOperatorCommand(pool, command, { state: 'done', outcome, report });
};

/** A comparison of two large tables takes long: stopping cancels it. */
const cancelOnStop = (pool: Pool, applicationName: string, signal: AbortSignal): Disposable => {
  const cancel = () => {
    pool
      .query('select pg_cancel_backend(pid) from pg_stat_activity where application_name = $1', [
        applicationName,
      ])
      .catch(() => {});
  };
  signal.addEventListener('abort', cancel);
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', cancel) };
};

const REPORT_EVERY_MS = 1_000;

/** Progress is written in the background. */
const progressReporter = (
  { pool, clock }: Pick<Dependencies, 'pool' | 'clock'>,
  command: TakenOperatorCommand,
): Verification['onProgress'] => {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  return (progress) => {
    if (progress.step !== 'events') return;
    const { position, from, upTo } = progress;
    if (clock.elapsedMs() - reportedAtMs < REPORT_EVERY_MS && position < upTo) return;
    reportedAtMs = clock.elapsedMs();
    recordProgress(pool, command, { done: position - from, of: upTo - from }).catch(() => {});
  };
};

/** It rests half of the time, because the process serves other requests; never for longer than this. */
const REST_MAX_MS = 1_000;

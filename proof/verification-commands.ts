import type { Domain } from '#kernel/registry/registry.ts';
import type { AuditSettings } from '#process/config.ts';
import { startExecuting } from '#process/operations/execute-operator-commands.ts';
import {
  finishOperatorCommand,
  recordProgress,
  type TakenOperatorCommand,
} from '#process/operations/operator-commands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { createSnapshots } from '#shared/snapshots/snapshots.ts';
import type { Verification } from './verify/plan.ts';
import { summaryOf } from './verify/summary.ts';
import { verify } from './verify/verify.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly databaseUrl: string;
  readonly eventLog: EventLog;
  readonly keys: KeyStore;
  readonly masterKey: MasterKey;
  readonly log: Log;
  readonly settings: Pick<AuditSettings, 'dir' | 'keepReadsDays'>;
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
      clock,
      tables: tablesOf(domain),
      masterKey,
      auditDir: settings.dir,
      snapshots: createSnapshots({ pool: own, keys, masterKey, eventLog }),
      given: { heads: [], keys: [] },
    },
    keepReadsDays: settings.keepReadsDays,
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

/** A verification rests half of the time, because the process serves other requests; never for longer than this. */
const REST_MAX_MS = 1_000;

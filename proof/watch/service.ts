import type { Domain } from '#kernel/registry/registry.ts';
import { untilDisposed } from '#shared/clock/repeat.ts';
import { migrateLeases, runUnderLease } from '#shared/database/lease/lease.ts';
import { openPool } from '#shared/database/pool.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { FollowerOptions } from '#shared/follower/follower.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { readWatched } from '../stored/watch.ts';
import { gauge } from './gauge.ts';
import { step } from './step.ts';

export type WatchOptions = Pick<FollowerOptions, 'pool' | 'eventLog' | 'log' | 'metrics' | 'clock'> & {
  readonly domain: Domain;
  readonly databaseUrl: string;
  readonly keys: KeyStore;
  readonly masterKey: MasterKey;
  readonly auditDir: string;
  readonly eventsPerSecond: number;
  /** The pause between rounds. */
  readonly pauseMs?: number;
};

const PAUSE_MS = 60_000;
/** How many times longer the pause is while nothing is appended. */
const STILL_TIMES = 10;
/** A digest of large tables takes long, and nobody waits for it. */
const STATEMENT_MAX_MS = 600_000;
/** If everything differs, only this many differences are logged. */
const LOGGED_MAX = 20;

/** Verifies the log slowly from start to end, again and again, in one process at a time. */
export const startWatch = async (options: WatchOptions): Promise<AsyncDisposable> => {
  const { domain, pool, eventLog, log, clock, masterKey, auditDir } = options;
  const { eventsPerSecond, pauseMs = PAUSE_MS } = options;
  await migrateLeases(pool);
  observeWatch(options);
  await using opening = new AsyncDisposableStack();
  const own = opening.use(
    openPool({
      url: options.databaseUrl,
      applicationName: 'annals-watch',
      connectionsMax: 2,
      statementTimeoutMs: STATEMENT_MAX_MS,
      clock,
    }),
  );
  const onFailure = (err: unknown) =>
    log.error({ err }, 'The verification of the log failed and is retried.');
  const work = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    const projection = { domain, codec: createCodec(options), tables: tablesOf(domain) };
    let logged = 0;
    while (!signal.aborted) {
      const beganMs = clock.elapsedMs();
      const { events, differences, isEnd, isStill } = await step({
        pool: own,
        ...{ eventLog, clock, masterKey, auditDir },
        ...projection,
        signal,
      });
      for (const difference of differences.slice(0, Math.max(LOGGED_MAX - logged, 0)))
        log.error({ difference }, 'The read model, or the log itself, differs from what was recorded.');
      logged = isEnd ? 0 : logged + differences.length;
      const endMs = isStill ? STILL_TIMES * pauseMs : pauseMs;
      const restMs = isEnd ? endMs : (events / eventsPerSecond) * 1_000 - (clock.elapsedMs() - beganMs);
      await clock.sleep(Math.max(restMs, 0), signal);
    }
  };
  opening.use(
    untilDisposed((stopping) =>
      runUnderLease({ pool, name: 'audit-watch', clock, onFailure }, work, stopping),
    ),
  );
  const resources = opening.move();
  return {
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** Every process reports the metrics, whichever verifies. */
const observeWatch = ({ pool, metrics }: Pick<WatchOptions, 'pool' | 'metrics'>): void => {
  const verified = {
    name: 'annals_audit_verified_events',
    help: 'Events verified in the current round.',
  };
  gauge(metrics, verified, async () => (await readWatched(pool))?.count ?? 0);
  const found = {
    name: 'annals_audit_differences',
    help: 'Findings of the current round, or of the last complete one if that had more.',
  };
  gauge(metrics, found, async () => {
    const watched = await readWatched(pool);
    return Math.max(watched?.differences ?? 0, watched?.finishedDifferences ?? 0);
  });
  const finished = {
    name: 'annals_audit_round_finished_timestamp_seconds',
    help: 'When the last complete verification ended.',
  };
  gauge(metrics, finished, async () => ((await readWatched(pool))?.finishedAt?.getTime() ?? 0) / 1_000);
};

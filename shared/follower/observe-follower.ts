import { oncePer } from '#kernel/base/once-per.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { failureForAnybody } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { NotReady } from '#shared/not-ready.ts';
import { Counter, Gauge, type Registry } from '#shared/prometheus.ts';
import { readCheckpoint } from './checkpoint.ts';
import { lagSecondsAt } from './lag.ts';
import { findStandstills, type Standstill } from './standstill.ts';

const LAG = 'annals_follower_behind';
const LAG_SECONDS = 'annals_follower_behind_seconds';
const FAILURES = 'annals_follower_failures_total';

export type ObservedFollower = {
  /** Its name in leases, checkpoints, logs and metrics: `process-manager`. */
  readonly name: string;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly metrics: Registry;
  readonly clock: Clock;
  /** False if a standstill delays only its own work: `/readyz` then shows it, and does not fail. */
  readonly isRequired?: boolean;
};

type Observed = ObservedFollower & {
  /** By the clock of this process. */
  readonly startedAtMs: number;
  /** Of this process, since the checkpoint moved last. */
  failure?: unknown;
};

type FollowerObserver = { failed(error: unknown): void; moved(): void };

/**
 * Measures the lag of each follower by its checkpoint. Every process reports all of its followers, whichever
 * process owns them, so that a standstill is seen.
 */
export const observeFollower = (follower: ObservedFollower): FollowerObserver => {
  const observed: Observed = { ...follower, startedAtMs: follower.clock.elapsedMs() };
  const { name, metrics } = observed;
  if (metrics.getSingleMetric(LAG)) observersIn(metrics).push(observed);
  else createGauges(observed);
  const failures = failuresIn(metrics);
  return {
    failed(error) {
      failures.inc({ follower: name });
      observed.failure = error;
    },
    moved() {
      observed.failure = undefined;
    },
  };
};

const failuresIn = (metrics: Registry): Counter<'follower'> => {
  const known = metrics.getSingleMetric(FAILURES) as Counter<'follower'> | undefined;
  const help = 'How often a follower of the event log has failed and restarted.';
  return known ?? new Counter({ name: FAILURES, help, labelNames: ['follower'], registers: [metrics] });
};

/** Throws if one of this process’s followers makes no progress, in whichever process it runs. */
export const demandMoving = async (
  metrics: Registry,
  which: { readonly isRequired: boolean },
): Promise<void> => {
  const asked = observersIn(metrics).filter(({ isRequired = true }) => isRequired === which.isRequired);
  const [first] = asked;
  if (first === undefined) return;
  // The observed followers are in one database, and follow one log.
  const sought = asked.map(({ name, clock, startedAtMs }) => ({
    name,
    watchedSeconds: (clock.elapsedMs() - startedAtMs) / 1_000,
  }));
  const found = await findStandstills(first, sought);
  const reasons = asked.flatMap((observed) => {
    const standstill = found.get(observed.name);
    return standstill === undefined ? [] : [reasonOf(observed, standstill)];
  });
  if (reasons.length > 0) throw new NotReady(reasons.join(' '));
};

const reasonOf = ({ name, failure }: Observed, { position, head, seconds }: Standstill): string => {
  const why = failure === undefined ? '' : `: ${failureForAnybody(failure)}`;
  return `The follower ${name} has made no progress for ${Math.floor(seconds)} s at position ${position}, and the log ends at ${head}${why}.`;
};

const observersIn = oncePer((_metrics: Registry): Observed[] => []);

const createGauges = (observed: Observed): void => {
  const all = observersIn(observed.metrics);
  all.push(observed);
  const shared = { labelNames: ['follower'], registers: [observed.metrics] };
  new Gauge({
    ...shared,
    name: LAG,
    aggregator: 'max',
    help: 'Positions between the checkpoint of a follower and the end of the event log; on EventStoreDB, bytes of its log.',
    async collect() {
      const setGauge = async (each: Observed) =>
        this.set({ follower: each.name }, await orUnknown(async () => (await lagOf(each)).positions));
      await Promise.all(all.map(setGauge));
    },
  });
  new Gauge({
    ...shared,
    name: LAG_SECONDS,
    aggregator: 'max',
    help: 'The age in seconds of the oldest event that a follower has not yet processed.',
    async collect() {
      const setGauge = async (each: Observed) => {
        const seconds = await orUnknown(() => lagSecondsOf(each));
        if (seconds !== null) this.set({ follower: each.name }, seconds);
      };
      await Promise.all(all.map(setGauge));
    },
  });
};

/** A scrape is needed most while the log or the database is away, and scrapers have short timeouts. */
const ANSWER_WITHIN_MS = 1_000;

/**
 * If the database or the log does not respond, the metric says so: the other metrics of the process are then
 * needed most.
 */
export const orUnknown = async <Value>(ask: () => Promise<Value>): Promise<Value | number> => {
  const { promise: late, resolve } = Promise.withResolvers<number>();
  using _timer = REAL_TIME.after(ANSWER_WITHIN_MS, () => resolve(Number.NaN)).unref();
  return await Promise.race([ask(), late]).catch(() => Number.NaN);
};

const lagOf = async ({ name, pool, eventLog }: Observed) => {
  const [checkpoint, head] = await Promise.all([readCheckpoint(pool, name), eventLog.head()]);
  const position = checkpoint?.position ?? START;
  return { position, positions: Math.max(head - position, 0) };
};

/** If the log takes too long to return its next event, the last value stays. */
const lagSecondsOf = async (observed: Observed): Promise<number | null> => {
  const { position, positions } = await lagOf(observed);
  return positions === 0 ? 0 : lagSecondsAt(observed.eventLog, position);
};

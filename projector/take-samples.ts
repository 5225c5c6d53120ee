import type { Position } from '#kernel/base/brands.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { countParkedAndSkipped, readServedFollowers } from '#process/operations/installation-state.ts';
import { migrateOperations } from '#process/operations/migrate.ts';
import { keepSample, readLatestAt, type Sample } from '#process/operations/samples.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { untilDisposed } from '#shared/clock/repeat.ts';
import { migrateLeases, runUnderLease } from '#shared/database/lease/lease.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Log } from '#shared/log.ts';
import { sampledMs, untilNextSampleMs } from './sample-times.ts';

type SamplingOptions = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity' | 'head' | 'follow'>;
  readonly log: Log;
  readonly clock: Clock;
  /** How many events the proof covers; undefined without it. */
  readonly countEvents?: ((pool: Pool) => Promise<number>) | undefined;
};

/** Records metrics of the installation every few seconds, in one process at a time. */
export const startSampling = async ({
  domain,
  pool,
  eventLog,
  log,
  clock,
  countEvents,
}: SamplingOptions): Promise<AsyncDisposable> => {
  await migrateLeases(pool);
  await migrateOperations(pool);
  const onFailure = (err: unknown) => log.warn({ err }, 'Metrics of the installation could not be recorded.');
  const work = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    let before = await readLatestAt(pool);
    let latest: { readonly head: Position; readonly sample: Sample } | undefined;
    while (!signal.aborted) {
      const waitMs = before === undefined ? 0 : untilNextSampleMs(clock.nowMs());
      await clock.sleep(waitMs, signal);
      if (signal.aborted) return;
      const head = await eventLog.head();
      const nowMs = clock.nowMs();
      if (latest?.head === head && isQuiet(latest.sample, nowMs)) {
        before = new Date(nowMs);
        continue;
      }
      const sample = await measure({ domain, pool, eventLog, clock, countEvents }, before);
      await keepSample(pool, sample);
      latest = { head, sample };
      before = sample.at;
    }
  };
  return untilDisposed((stopping) =>
    runUnderLease({ pool, name: 'operations-samples', clock, onFailure }, work, stopping),
  );
};

/** While nothing happens, samples are equal: every third is taken. A timer may fire a little early. */
const QUIET_FOR_MS = 25_000;

const isQuiet = ({ at, followers, due, deliveredPerSecond }: Sample, nowMs: number): boolean =>
  nowMs - at.getTime() < QUIET_FOR_MS &&
  due === 0 &&
  deliveredPerSecond === 0 &&
  Object.values(followers).every((lagS) => lagS === 0);

const NO_DELIVERIES = { due: 0, dead: 0, delivered: 0 };

const countDeliveries = async (pool: Pool, since: Date): Promise<typeof NO_DELIVERIES> => {
  const { countDelivered, countWebhooks } = await import('#shared/webhooks/counts.ts');
  const delivered = await countDelivered(pool, since);
  const { due, dead } = await countWebhooks(pool);
  return { due, dead, delivered };
};

const measure = async (
  { domain, pool, eventLog, clock, countEvents }: Omit<SamplingOptions, 'log'>,
  before: Date | undefined,
): Promise<Sample> => {
  const at = new Date(clock.nowMs());
  const sinceMs = sampledMs(at, before);
  const since = new Date(at.getTime() - sinceMs);
  const { due, dead, delivered } = serves(domain, 'webhooks')
    ? await countDeliveries(pool, since)
    : NO_DELIVERIES;
  const { parked } = await countParkedAndSkipped(pool);
  const events = (await countEvents?.(pool)) ?? 0;
  const followers = (await readServedFollowers(domain, pool, eventLog)).map(
    ({ name, behindSeconds }) => [name, behindSeconds] as const,
  );
  return {
    at,
    events,
    followers: Object.fromEntries(followers),
    parked,
    due,
    dead,
    deliveredPerSecond: delivered / (sinceMs / 1_000),
  };
};

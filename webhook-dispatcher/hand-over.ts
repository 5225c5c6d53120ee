import type { WebhookId } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import { Changed } from './changed.ts';
import type { PlannedRun, PlannedRuns } from './planned-runs.ts';
import type { Run } from './run.ts';

/** A webhook whose run is in this process. */
export type Own = {
  /** True if the planner started it, not the queue. */
  readonly isPlanned: boolean;
  /** Set once the webhook is claimed. */
  run?: Run;
  /** Deliveries that were planned before that. */
  readonly offered: PlannedRun[];
  /** True if more was planned after the run had ended. */
  isAskedAgain: boolean;
  /** Whether other webhooks wait for it to end. */
  isCrowded(): boolean;
};

type Dependencies = {
  /** Runs a webhook; returns whether more could be sent at once, or undefined if it cannot run now. */
  runOnce(webhookId: WebhookId, own: Own): Promise<{ readonly hasMore: boolean } | undefined>;
  /** The maximum number of concurrent runs in this process. */
  readonly runsMax: number;
  /** Enqueues webhooks for any process with capacity. */
  enqueue(webhookIds: readonly WebhookId[]): void;
  /** After this nothing is started. */
  readonly stopping: AbortSignal;
  readonly log: Log;
  readonly clock: Clock;
};

/** The queue has the other half, so that steadily planned webhooks leave capacity for retries. */
const PLANNED_SHARE = 0.5;
/** Another process may have capacity sooner. */
export const WAIT_FOR_ROOM_MS = 500;
/** The most webhooks that wait here; the sweepers of other processes find them, too. */
export const WAITING_MAX = 10_000;

/**
 * Runs webhooks in this process: those from the queue, and, bypassing the queue, those with deliveries just
 * planned here.
 */
export const createHandOver = ({ runOnce, runsMax, enqueue, stopping, log, clock }: Dependencies) => {
  const owned = new Map<WebhookId, Own>();
  const waiting = new Set<WebhookId>();
  const hasRoom = new Changed(clock);
  let plannedRuns = 0;

  const begin = async (
    webhookId: WebhookId,
    planned?: PlannedRun,
  ): Promise<{ readonly hasMore: boolean } | undefined> => {
    const own = ownOf(planned, () => waiting.size > 0);
    owned.set(webhookId, own);
    waiting.delete(webhookId);
    try {
      const ended = await runOnce(webhookId, own);
      if (ended) return { hasMore: ended.hasMore || own.isAskedAgain };
      // Another process runs it, and may end before it looks for what was planned meanwhile.
      return own.offered.length > 0 ? { hasMore: true } : undefined;
    } catch (error) {
      // The database does not answer. The others would fail, too; the sweeper finds them in the ledger.
      waiting.clear();
      throw error;
    } finally {
      owned.delete(webhookId);
      hasRoom.announce();
      beginWaiting();
    }
  };

  const beginPlanned = async (webhookId: WebhookId, planned: PlannedRun): Promise<void> => {
    plannedRuns += 1;
    try {
      // Another process may be about to end its run.
      const { hasMore } = (await begin(webhookId, planned)) ?? { hasMore: true };
      if (hasMore) enqueue([webhookId]);
    } catch (err) {
      log.warn({ err, webhookId }, NOT_RUN);
    } finally {
      plannedRuns -= 1;
      beginWaiting();
    }
  };

  const canBegin = (): boolean =>
    !stopping.aborted && owned.size < runsMax && plannedRuns < runsMax * PLANNED_SHARE;
  const beginWaiting = (): void => {
    for (const webhookId of waiting) {
      if (!canBegin()) return;
      void beginPlanned(webhookId, { deliveries: [] });
    }
  };
  stopping.addEventListener('abort', () => {
    if (waiting.size > 0) enqueue([...waiting]);
    waiting.clear();
  });

  return {
    size: () => owned.size,
    /** The webhooks that wait here for their runs. */
    waiting: waiting as ReadonlySet<WebhookId>,
    async run(webhookId: WebhookId): Promise<boolean> {
      const untilMs = clock.elapsedMs() + WAIT_FOR_ROOM_MS;
      while (owned.size >= runsMax && !stopping.aborted) {
        if (clock.elapsedMs() >= untilMs) return true;
        await hasRoom.wait(WAIT_FOR_ROOM_MS);
      }
      if (stopping.aborted) return false;
      const own = owned.get(webhookId);
      if (!own) return (await begin(webhookId))?.hasMore ?? false;
      offer(own, { deliveries: [] }, clock);
      return false;
    },
    handOver(planned: PlannedRuns): void {
      const left: WebhookId[] = [];
      for (const [webhookId, run] of planned) {
        const own = owned.get(webhookId);
        if (own) offer(own, run, clock);
        else if (canBegin() && waiting.size === 0) void beginPlanned(webhookId, run);
        else if (!stopping.aborted && (waiting.has(webhookId) || waiting.size < WAITING_MAX))
          waiting.add(webhookId);
        else left.push(webhookId);
      }
      if (left.length > 0) enqueue(left);
    },
  };
};

const ownOf = (planned: PlannedRun | undefined, isCrowded: () => boolean): Own => ({
  isPlanned: planned !== undefined,
  offered: planned ? [planned] : [],
  isAskedAgain: false,
  isCrowded,
});

/** Deliveries that are offered later after they were planned may have been sent by another run meanwhile. */
export const FRESH_MS = 50;

export const offer = (own: Own, planned: PlannedRun, clock: Pick<Clock, 'elapsedMs'>): void => {
  const { writtenAtMs = Number.NEGATIVE_INFINITY } = planned;
  const isFresh = clock.elapsedMs() - writtenAtMs <= FRESH_MS;
  if (!own.run) own.offered.push(planned);
  // The ledger knows what is still due.
  else if (!own.run.offer(isFresh ? planned : { ...planned, deliveries: [] })) own.isAskedAgain = true;
};

export const NOT_RUN = 'A webhook run could not start; the ledger has its deliveries, and it is retried.';

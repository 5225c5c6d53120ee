import type { WebhookId } from '#shared/brands.ts';
import type { Log } from '#shared/process/log.ts';
import { Changed } from './changed.ts';
import type { PlannedRun, PlannedRuns } from './planned-runs.ts';
import type { Run } from './run.ts';

/** A webhook that this process runs. */
export type Own = {
  /** Whether the planner began it, and not the queue. */
  readonly isPlanned: boolean;
  /** Nothing until it is claimed. */
  run?: Run;
  /** What was planned before that. */
  readonly offered: PlannedRun[];
  /** More was planned once the run had ended. */
  isAskedAgain: boolean;
};

type Dependencies = {
  /** Runs a webhook; returns whether more could be sent at once, or nothing where it cannot be run now. */
  runOnce(webhookId: WebhookId, own: Own): Promise<{ readonly hasMore: boolean } | undefined>;
  /** To how many webhooks this process sends at once. */
  readonly runsMax: number;
  /** Has a webhook be run by whichever process has room. */
  enqueue(webhookIds: readonly WebhookId[]): void;
  /** From then on nothing is begun. */
  readonly stopping: AbortSignal;
  readonly log: Log;
};

/**
 * The queue has the other half, so that webhooks which are planned all the time leave room for those that are
 * due again.
 */
const PLANNED_SHARE = 0.5;
/** Another process may have room earlier. */
const WAIT_FOR_ROOM_MS = 500;

/**
 * Has webhooks run by this process: those from the queue, and those for which something was just planned
 * here, without the queue.
 */
export const createHandOver = ({ runOnce, runsMax, enqueue, stopping, log }: Dependencies) => {
  const owned = new Map<WebhookId, Own>();
  const hasRoom = new Changed();
  let plannedRuns = 0;

  const begin = async (
    webhookId: WebhookId,
    planned?: PlannedRun,
  ): Promise<{ readonly hasMore: boolean } | undefined> => {
    const own: Own = {
      isPlanned: planned !== undefined,
      offered: planned ? [planned] : [],
      isAskedAgain: false,
    };
    owned.set(webhookId, own);
    try {
      const ended = await runOnce(webhookId, own);
      if (ended) return { hasMore: ended.hasMore || own.isAskedAgain };
      // Another process runs it, and may end before it looks for what was planned meanwhile.
      return own.offered.length > 0 ? { hasMore: true } : undefined;
    } finally {
      owned.delete(webhookId);
      hasRoom.announce();
    }
  };

  const beginPlanned = async (webhookId: WebhookId, planned: PlannedRun): Promise<void> => {
    plannedRuns += 1;
    try {
      // Somebody else may be about to end it.
      const { hasMore } = (await begin(webhookId, planned)) ?? { hasMore: true };
      if (hasMore) enqueue([webhookId]);
    } catch (err) {
      log.warn({ err, webhookId }, NOT_RUN);
    } finally {
      plannedRuns -= 1;
    }
  };

  return {
    get size(): number {
      return owned.size;
    },
    async run(webhookId: WebhookId): Promise<boolean> {
      const untilMs = performance.now() + WAIT_FOR_ROOM_MS;
      while (owned.size >= runsMax && !stopping.aborted) {
        if (performance.now() >= untilMs) return true;
        await hasRoom.wait(WAIT_FOR_ROOM_MS);
      }
      if (stopping.aborted) return false;
      const own = owned.get(webhookId);
      if (!own) return (await begin(webhookId))?.hasMore ?? false;
      offer(own, { deliveries: [] });
      return false;
    },
    handOver(planned: PlannedRuns): void {
      const left: WebhookId[] = [];
      for (const [webhookId, run] of planned) {
        const own = owned.get(webhookId);
        if (own) offer(own, run);
        else if (stopping.aborted || owned.size >= runsMax || plannedRuns >= runsMax * PLANNED_SHARE)
          left.push(webhookId);
        else void beginPlanned(webhookId, run);
      }
      if (left.length > 0) enqueue(left);
    },
  };
};

export const offer = (own: Own, planned: PlannedRun): void => {
  if (!own.run) own.offered.push(planned);
  else if (!own.run.offer(planned)) own.isAskedAgain = true;
};

export const NOT_RUN = 'A webhook run could not start; the ledger has its deliveries, and it is retried.';

import type { Position, WebhookId } from '#kernel/base/brands.ts';
import { filtersOf } from '#kernel/registry/event-references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { ChangePage, ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { untilDisposed } from '#shared/clock/repeat.ts';
import { runUnderLease } from '#shared/database/lease/lease.ts';
import type { Pool } from '#shared/database/pool.ts';
import { pulseOf } from '#shared/database/pulse.ts';
import { positionAt } from '#shared/event-index/position-at.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { Log } from '#shared/log.ts';
import { policyOf } from '#shared/policy.ts';
import { readOwners } from '#shared/webhooks/owners.ts';
import { isVisibleTo, wants } from '#shared/webhooks/wanted.ts';
import { readEndpoint } from './ledger/endpoints.ts';
import { type PlannedDelivery, plannedFor } from './ledger/plan-rows.ts';
import {
  ARE_RUNNING,
  advanceReplay,
  countDueOf,
  type RunningReplay,
  readRunningReplays,
} from './ledger/replays.ts';
import type { PlannedRuns } from './planned-runs.ts';

type ReplayerDependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'follow' | 'head'>;
  readonly changes: Pick<ChangeStream, 'follow'>;
  readonly log: Log;
  readonly clock: Clock;
  /** Called with webhooks that have deliveries to send: only a hint. */
  planned(planned: PlannedRuns): void;
};

const REPLAYER = 'webhook-replayer';
/** How often it looks although the pulse has shown nothing. */
const LOOK_EVERY_MS = 60_000;
const AT_ONCE_MAX = 8;
/** A replay pauses while more than this are due, so that new changes do not queue behind all of the past. */
const DUE_MAX = 1_000;
/** A replay without progress yields to others for this time. */
const HELD_OFF_MS = 1_000;

/** Executes replays page by page, in one process at a time. It resumes where it was, and repeats no page. */
export const startReplayer = async (dependencies: ReplayerDependencies): Promise<AsyncDisposable> => {
  const { pool, log, clock } = dependencies;
  const onFailure = (err: unknown) => log.error({ err }, 'Replays to webhooks failed and are resumed.');
  return untilDisposed((stopping) =>
    runUnderLease(
      { pool, name: REPLAYER, clock, onFailure },
      ({ signal }) => workOff(dependencies, signal),
      stopping,
    ),
  );
};

const workOff = async (dependencies: ReplayerDependencies, signal: AbortSignal): Promise<void> => {
  const { clock } = dependencies;
  const active = new Map<WebhookId, Promise<void>>();
  const heldOffUntilMs = new Map<WebhookId, number>();
  const begin = async (replay: RunningReplay): Promise<void> => {
    const { id, webhookId } = replay;
    try {
      if (await replayOne(dependencies, replay, signal)) return;
    } catch (err) {
      if (!signal.aborted)
        dependencies.log.error({ err, replay: id }, 'A replay to a webhook failed and is resumed.');
    }
    heldOffUntilMs.set(webhookId, clock.elapsedMs() + HELD_OFF_MS);
  };
  try {
    while (!signal.aborted) {
      for (const [webhookId, untilMs] of heldOffUntilMs)
        if (untilMs <= clock.elapsedMs()) heldOffUntilMs.delete(webhookId);
      for (const replay of await readRunningReplays(dependencies.pool, [
        ...active.keys(),
        ...heldOffUntilMs.keys(),
      ])) {
        if (active.size >= AT_ONCE_MAX) break;
        const { webhookId } = replay;
        active.set(
          webhookId,
          begin(replay).finally(() => active.delete(webhookId)),
        );
      }
      await pulseOf(dependencies.pool).wait({ until: ARE_RUNNING, clock, timeoutMs: LOOK_EVERY_MS, signal });
    }
  } finally {
    await Promise.all(active.values());
  }
};

/**
 * Advances while there is room, without waiting for it, because others would wait too. Returns whether it
 * made progress.
 */
const replayOne = async (
  dependencies: ReplayerDependencies,
  replay: RunningReplay,
  signal: AbortSignal,
): Promise<boolean> => {
  const { domain, pool, changes, planned } = dependencies;
  const hasRoom = async (): Promise<boolean> => (await countDueOf(pool, replay.webhookId, DUE_MAX)) < DUE_MAX;
  let { at } = replay;
  if (!(await hasRoom())) return false;
  for await (const page of changes.follow(await beginningOf(dependencies, replay), signal)) {
    const deliveries = await matching(dependencies, replay, page);
    if (deliveries === undefined) break;
    const hasAdvanced = await advanceReplay(
      pool,
      { ...replay, at },
      { upTo: page.upTo, deliveries, catalogue: catalogueOf(domain) },
    );
    if (!hasAdvanced) break;
    if (deliveries.length > 0) planned(new Map([[replay.webhookId, { deliveries: [] }]]));
    at = page.upTo;
    if (at >= replay.to || !(await hasRoom())) break;
  }
  return at > replay.at;
};

/** A replay since a time starts there, instead of reading everything before. */
const beginningOf = async (
  { pool, eventLog }: ReplayerDependencies,
  { at, to, time }: RunningReplay,
): Promise<Position> => {
  if (time === null || at !== START) return at;
  const before = await positionAt({ pool, eventLog }, new Date(time.getTime() - 1));
  // Always includes the last position, so that there is a page to end with.
  return Math.max(at, Math.min(before, to - 1)) as Position;
};

/**
 * The deliveries of a page for the webhook and its owner at present; undefined if there is no one to send to.
 */
const matching = async (
  { pool, domain }: Pick<ReplayerDependencies, 'pool' | 'domain'>,
  { webhookId, to, time }: RunningReplay,
  { changes }: ChangePage,
): Promise<PlannedDelivery[] | undefined> => {
  const filters = filtersOf(domain);
  const endpoint = await readEndpoint(pool, domain, webhookId);
  if (endpoint?.status !== 'enabled') return undefined;
  const owners = await readOwners(pool, domain, new Set([endpoint.ownerId]));
  const isAsked = ({ position, at }: { position: number; at: string }) =>
    position <= to && (time === null || Date.parse(at) >= time.getTime());
  return changes
    .filter(
      (change) =>
        isAsked(change) &&
        wants(filters, endpoint, change) &&
        isVisibleTo({ owners, policy: policyOf(domain) }, endpoint, change),
    )
    .map((change) => plannedFor(endpoint, change));
};

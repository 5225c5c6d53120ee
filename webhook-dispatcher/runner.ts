import { LRUCache } from 'lru-cache';
import type { WebhookId } from '#kernel/base/brands.ts';
import { traceIdOf } from '#kernel/base/traceparent.ts';
import type { DisabledReason } from '#kernel/webhook/webhook-fields.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { repeat } from '#shared/clock/repeat.ts';
import { isPassing } from '#shared/database/failures.ts';
import { LogUnavailable, LogWentBack } from '#shared/event-log/errors.ts';
import type { Log } from '#shared/log.ts';
import type { Policy } from '#shared/policy.ts';
import { ownerOf } from '#shared/webhooks/owners.ts';
import { restored } from './deliver/breaker.ts';
import type { AttemptResult, Breaker, Delivery, Sender } from './deliver/delivery.ts';
import type { EndpointSecrets } from './endpoint-secrets.ts';
import { createHandOver, FRESH_MS, type Own, offer } from './hand-over.ts';
import type { RunLedger } from './ledger/run-ledger.ts';
import { type Claim, RUN_LEASE_MS } from './ledger/runs.ts';
import type { DeliveryObserver } from './observe.ts';
import type { PlannedRuns } from './planned-runs.ts';
import { Run } from './run.ts';

type RunnerDependencies = {
  readonly policy: Policy;
  readonly ledger: RunLedger;
  readonly secrets: EndpointSecrets;
  readonly sender: Sender;
  readonly log: Log;
  readonly clock: Clock;
  readonly observer: Pick<DeliveryObserver, 'sent'>;
  /** The maximum number of concurrent runs. */
  readonly runsMax: number;
  /** Enqueues webhooks for any process with capacity. */
  enqueue(webhookIds: readonly WebhookId[]): void;
  /** Requests that the webhook be disabled; all runners learn it from the log. */
  disable(webhookId: WebhookId, reason: DisabledReason): Promise<void>;
};

export type Runner = AsyncDisposable & {
  /**
   * Sends due deliveries to a webhook, if no other process does; returns whether more could be sent at once.
   */
  run(webhookId: WebhookId): Promise<boolean>;
  /** Sends deliveries just planned here if there is capacity; the queue gets the rest. */
  handOver(planned: PlannedRuns): void;
  /** The webhooks that wait here for their runs. */
  readonly waiting: ReadonlySet<WebhookId>;
  readonly running: number;
  /** Starts nothing more; deliveries in progress may still end for a while. */
  drain(): void;
};

/** The state of a webhook for its next run. */
type Worked = { readonly pauseMs: number; readonly nextSendInMs: number; readonly breaker: Breaker };

const RENEW_EVERY_MS = RUN_LEASE_MS / 4;
const LOOK_EVERY_MS = 20;
const OWN_FAILURE_PAUSE_MS = 60_000;
/** The time for deliveries in progress to end when the process stops. */
const END_WITHIN_MS = 4_000;
const RELEASE_WITHIN_MS = 1_000;
/** The pause after a failure of our own, or if the owner cannot be read. */
const TROUBLE_PAUSE_MS = 10_000;
/** The command was sent. */
const DISABLING_PAUSE_MS = 60_000;
const BREAKERS_MAX = 100_000;

export const createRunner = (dependencies: RunnerDependencies): Runner => {
  const { ledger, log, clock, disable, runsMax, enqueue } = dependencies;
  const running = new Set<Run>();
  const breakers = new LRUCache<WebhookId, Breaker>({ max: BREAKERS_MAX });
  const stopping = new AbortController();
  const renewing = renewAll(running, log);

  const work = async (claim: Claim, own: Own, claimedAtMs: number): Promise<Worked> => {
    const { webhookId } = claim;
    const breaker = breakers.get(webhookId) ?? breakerIn(claim);
    const run = await openRun(dependencies, { claim, breaker, claimedAtMs, own });
    if (!run) return { pauseMs: TROUBLE_PAUSE_MS, nextSendInMs: 0, breaker };
    own.run = run;
    // If the claim took long, another process may have sent planned ones before, and failed: the ledger knows when they
    // are due again.
    const isLate = REAL_TIME.elapsedMs() - claimedAtMs > FRESH_MS;
    for (const planned of own.offered) offer(own, isLate ? { deliveries: [] } : planned, clock);
    running.add(run);
    if (stopping.signal.aborted) run.stop();
    const { ending, ...left } = await run.work().finally(() => running.delete(run));
    breakers.set(webhookId, left.breaker);
    if (ending.kind === 'ended') return { ...left, pauseMs: ending.pauseMs };
    await disable(webhookId, ending.reason);
    return { ...left, pauseMs: DISABLING_PAUSE_MS };
  };

  const runOnce = async (
    webhookId: WebhookId,
    own: Own,
  ): Promise<{ readonly hasMore: boolean } | undefined> => {
    const claimedAtMs = REAL_TIME.elapsedMs();
    const claim = await ledger.claim(webhookId);
    if (!claim) return undefined;
    const { pauseMs, nextSendInMs, breaker } = await work(claim, own, claimedAtMs).catch((err: unknown) => {
      log.error({ err, webhookId }, 'A run of a webhook failed for internal reasons and is retried.');
      return { pauseMs: TROUBLE_PAUSE_MS, nextSendInMs: 0, breaker: breakerIn(claim, null) };
    });
    const hasMore = await ledger.release({
      webhookId,
      epoch: claim.epoch,
      pauseMs,
      nextSendInMs,
      breakerOpenings: breaker.openings,
    });
    return { hasMore };
  };
  const own = createHandOver({ runOnce, runsMax, enqueue, log, clock, stopping: stopping.signal });

  let endsAtMs = Number.POSITIVE_INFINITY;
  const drain = (): void => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    endsAtMs = clock.elapsedMs() + END_WITHIN_MS;
    for (const each of running) each.stop();
  };

  return {
    ...{ run: own.run, handOver: own.handOver, waiting: own.waiting },
    drain,
    get running() {
      return running.size;
    },
    async [Symbol.asyncDispose]() {
      drain();
      while (running.size > 0 && clock.elapsedMs() < endsAtMs) await clock.sleep(LOOK_EVERY_MS);
      for (const each of running) each.cut();
      while (own.size() > 0 && clock.elapsedMs() < endsAtMs + RELEASE_WITHIN_MS)
        await clock.sleep(LOOK_EVERY_MS);
      await renewing[Symbol.asyncDispose]();
    },
  };
};

const breakerIn = ({ breakerOpenings: openings }: Claim, openUntilMs = openings > 0 ? 0 : null): Breaker =>
  restored({ openings, openUntilMs });

type Opening = {
  readonly claim: Claim;
  readonly breaker: Breaker;
  readonly claimedAtMs: number;
  readonly own: Pick<Own, 'isPlanned' | 'isCrowded'>;
};

/** Returns no run if the role of the owner or the secrets of the endpoint cannot be read. */
const openRun = async (
  { ledger, policy, secrets, sender, log, clock, observer: { sent } }: RunnerDependencies,
  { claim, breaker, claimedAtMs, own: { isPlanned, isCrowded } }: Opening,
): Promise<Run | undefined> => {
  const { webhookId, role, attributes, version } = claim;
  if (role === null) return undefined;
  const endpoint = await secrets(webhookId, version);
  if (!endpoint) return undefined;
  const owner = ownerOf(endpoint, { role, attributes }, policy);
  return new Run(
    { claim, endpoint, owner, breaker, ledger, sender, clock, sent, ownFailure: ownFailureOf(log) },
    { claimedAtMs, isPlanned, isCrowded },
  );
};

/**
 * A delivery that cannot be made is postponed, so that it delays no other; if the database or the log is
 * unavailable, all are.
 */
const ownFailureOf =
  (log: Log) =>
  ({ webhookId, eventId, shape, change }: Delivery, err: unknown): AttemptResult => {
    if (isPassing(err) || err instanceof LogUnavailable || err instanceof LogWentBack) throw err;
    const traceId = traceIdOf(change.trace);
    log.error(
      { err, webhookId, delivery: eventId, traceId },
      'A delivery to a webhook failed for internal reasons and is retried.',
    );
    return {
      attempt: null,
      shape,
      outcome: { state: 'due', retryInMs: OWN_FAILURE_PAUSE_MS },
      health: { kind: 'unknown' },
    };
  };

/** In real time, because the database measures the claims. */
const renewAll = (running: ReadonlySet<Run>, log: Log): AsyncDisposable =>
  repeat({
    work: () => Promise.all([...running].map((run) => run.renew())),
    wait: (signal) => REAL_TIME.sleep(RENEW_EVERY_MS, signal),
    waitsFirst: true,
    onFailure: (err) => log.warn({ err }, 'The runs of webhooks could not be renewed.'),
  });

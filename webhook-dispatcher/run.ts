// Over 200 lines, because each step of a run depends on all of its state.
import { isDeepStrictEqual } from 'node:util';
import type { EventId } from '#kernel/base/brands.ts';
import type { DisabledReason } from '#kernel/webhook/webhook-fields.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { RoleAndAttributes } from '#shared/role-and-attributes.ts';
import { Changed } from './changed.ts';
import { admits, afterAttempt } from './deliver/breaker.ts';
import type { AttemptResult, Breaker, Delivery, Endpoint, Owner, Sender, Shape } from './deliver/delivery.ts';
import type { RunLedger } from './ledger/run-ledger.ts';
import { type Claim, RUN_LEASE_MS } from './ledger/runs.ts';
import { Pace, Slice } from './pace.ts';
import type { PlannedRun } from './planned-runs.ts';
import { type Ending, endingOf, type RunState } from './run-state.ts';

export type RunSetting = {
  readonly claim: Claim;
  readonly endpoint: Endpoint;
  readonly owner: Owner;
  readonly breaker: Breaker;
  readonly ledger: RunLedger;
  readonly sender: Sender;
  readonly clock: Clock;
  sent(delivery: Delivery, result: AttemptResult): void;
  /** Turns our own failure in an attempt into a result; throws if all other attempts would fail too. */
  ownFailure(delivery: Delivery, error: unknown): AttemptResult;
};

/** While something slow is in progress, or more may be planned, the run polls for due deliveries. */
const LOOK_EVERY_MS = 100;
/** A run that the planner started waits this long for further plans, because another run would cost more. */
const LINGER_MS = 100;
const TAKEN_PER_LANE = 4;
const TAKEN_MAX = 200;

type Worked = { readonly ending: Ending; readonly breaker: Breaker; readonly nextSendInMs: number };

/** A run of the planner is offered deliveries; any other looks for them first. */
type Beginning = {
  readonly claimedAtMs: number;
  readonly isPlanned: boolean;
  /** Whether other webhooks wait for it to end; it does not wait for further plans then. */
  isCrowded(): boolean;
};

type Step =
  | { readonly kind: 'send' }
  | { readonly kind: 'take' }
  | { readonly kind: 'end' }
  | { readonly kind: 'wait'; readonly ms: number };

const isSame = ({ role, attributes = null }: RoleAndAttributes, claim: Claim): boolean =>
  role === claim.role && isDeepStrictEqual(attributes, claim.attributes);

/**
 * Sends due deliveries to one webhook while it holds the claim: with its concurrency, at its pace, and with a
 * pause while it fails.
 */
export class Run {
  readonly #setting: RunSetting;
  readonly #pace: Pace;
  readonly #lanes: number;
  readonly #lingerMs: () => number;
  readonly #lost = new AbortController();
  readonly #held = new Set<EventId>();
  /** Deliveries that the run has had: the planner may offer them after the run has found them by itself. */
  readonly #known = new Set<EventId>();
  #state: RunState;
  #isTaking = false;
  #underWay = 0;
  #breaker: Breaker;
  #leasedUntilMs: number;
  #lookedAtMs: number;
  #busyAtMs: number;
  #failure: { readonly error: unknown } | undefined;
  readonly #slice: Slice;
  readonly #changed: Changed;

  constructor(setting: RunSetting, { claimedAtMs, isPlanned, isCrowded }: Beginning) {
    const { claim, breaker, clock } = setting;
    const nowMs = clock.elapsedMs();
    this.#setting = setting;
    this.#breaker = breaker;
    this.#lookedAtMs = nowMs;
    this.#busyAtMs = nowMs;
    this.#slice = new Slice(nowMs);
    this.#changed = new Changed(clock);
    this.#pace = new Pace(claim.ratePerSecond, nowMs + claim.nextSendInMs);
    this.#lanes = claim.isOrdered ? 1 : claim.concurrency;
    this.#leasedUntilMs = claimedAtMs + RUN_LEASE_MS;
    this.#lingerMs = () => (isPlanned && !isCrowded() ? LINGER_MS : 0);
    this.#state = { kind: 'sending', waiting: [], mayBeMore: !isPlanned };
  }

  /** Rejects with the first failure of our own, once nothing is in progress. */
  async work(): Promise<Worked> {
    try {
      for (let step = this.#step(); step.kind !== 'end'; step = this.#step()) {
        if (step.kind === 'send') this.#send();
        else if (step.kind === 'take') await this.#take();
        else await this.#changed.wait(step.ms);
      }
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#end();
    while (this.#underWay > 0) await this.#changed.wait(LOOK_EVERY_MS);
    if (this.#failure) throw this.#failure.error;
    return {
      ending: this.#end(),
      breaker: this.#breaker,
      nextSendInMs: this.#pace.leftMs(this.#setting.clock.elapsedMs()),
    };
  }

  /**
   * Sends deliveries just planned for its webhook, and looks for others. False if it starts nothing more, for
   * example because its claim is outdated.
   */
  offer({ deliveries, version, standing }: PlannedRun): boolean {
    const { claim } = this.#setting;
    const isOutdated = version !== undefined && version !== claim.version;
    if (isOutdated || (standing && !isSame(standing, claim))) this.#end();
    if (this.#state.kind !== 'sending') return false;
    const { waiting, mayBeMore } = this.#state;
    // The ledger knows the order, and holds what exceeds the limit.
    const isNext = deliveries.length > 0 && !claim.isOrdered && !mayBeMore && !this.#isTaking;
    const others = deliveries.filter(({ eventId }) => !this.#known.has(eventId));
    if (isNext && waiting.length + others.length <= TAKEN_MAX) this.#hold(waiting, others);
    else this.#state.mayBeMore = true;
    this.#changed.announce();
    return true;
  }

  /** Starts nothing more. */
  stop(): void {
    this.#end();
  }

  /** Aborts deliveries in progress too; their results are not recorded. */
  cut(): void {
    this.#end();
    this.#lost.abort();
  }

  /** Renews its claim; if that fails in time, it leaves its webhook alone. */
  async renew(): Promise<void> {
    const askedAtMs = REAL_TIME.elapsedMs();
    const isHeld = await this.#setting.ledger.renew(this.#setting.claim).catch(() => undefined);
    if (isHeld === true) this.#leasedUntilMs = askedAtMs + RUN_LEASE_MS;
    if (isHeld === false || this.#isLeaseOver()) this.cut();
  }

  #step(): Step {
    const nowMs = this.#setting.clock.elapsedMs();
    if (this.#state.kind !== 'sending' || this.#slice.isFinished(nowMs) || this.#isLeaseOver())
      return { kind: 'end' };
    const { waiting, mayBeMore } = this.#state;
    const isIdle = this.#underWay === 0;
    if (isIdle && this.#slice.isOver(nowMs)) return { kind: 'end' };
    if (this.#underWay >= this.#lanes) return { kind: 'wait', ms: LOOK_EVERY_MS };
    if (waiting.length === 0 && !mayBeMore) {
      const [lookInMs, leaveInMs] = [
        this.#lookedAtMs + LOOK_EVERY_MS - nowMs,
        this.#busyAtMs + this.#lingerMs() - nowMs,
      ];
      if (isIdle && leaveInMs <= 0) return { kind: 'end' };
      if (lookInMs > 0) return { kind: 'wait', ms: isIdle ? Math.min(lookInMs, leaveInMs) : lookInMs };
    }
    const ms = this.#mustWaitMs(nowMs);
    if (ms > 0) return { kind: 'wait', ms };
    return { kind: waiting.length > 0 ? 'send' : 'take' };
  }

  /** In real time, because the database measures the claim. */
  #isLeaseOver(): boolean {
    return REAL_TIME.elapsedMs() > this.#leasedUntilMs;
  }

  #mustWaitMs(nowMs: number): number {
    const isTrying = admits(this.#breaker, nowMs) !== 'all' && this.#underWay > 0;
    return Math.max(this.#slice.graceMs(nowMs), isTrying ? LOOK_EVERY_MS : 0, this.#pace.waitMs(nowMs));
  }

  #send(): void {
    const delivery = this.#state.kind === 'sending' ? this.#state.waiting.shift() : undefined;
    if (!delivery) return;
    const nowMs = this.#setting.clock.elapsedMs();
    this.#pace.take(nowMs);
    this.#slice.count(nowMs);
    this.#underWay += 1;
    void this.#attempt(delivery);
  }

  /** Looks again for deliveries that were offered meanwhile, because the result may be old by then. */
  async #take(): Promise<void> {
    if (this.#state.kind !== 'sending') return;
    const { claim, ledger } = this.#setting;
    const { webhookId, version, isOrdered } = claim;
    const many = Math.min(TAKEN_MAX, this.#lanes * TAKEN_PER_LANE);
    this.#lookedAtMs = this.#setting.clock.elapsedMs();
    this.#state.mayBeMore = false;
    this.#isTaking = true;
    const found = await ledger.take({ webhookId, version, isOrdered, many, held: [...this.#held] });
    this.#isTaking = false;
    if (this.#state.kind !== 'sending') return;
    this.#hold(this.#state.waiting, found);
    if (found.length === many) this.#state.mayBeMore = true;
  }

  #hold(waiting: Delivery[], deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) {
      if (this.#held.has(delivery.eventId)) continue;
      this.#held.add(delivery.eventId);
      this.#known.add(delivery.eventId);
      waiting.push(delivery);
    }
  }

  async #attempt(delivery: Delivery): Promise<void> {
    const { claim, endpoint, owner, sender, ledger, sent, ownFailure } = this.#setting;
    const { webhookId, epoch } = claim;
    const { eventId } = delivery;
    const { signal } = this.#lost;
    try {
      const settle = async (shape: Shape): Promise<void> => {
        if (!(await ledger.settle({ webhookId, epoch, eventId, shape }))) this.cut();
        signal.throwIfAborted();
      };
      const at = new Date(this.#setting.clock.nowMs());
      const result = await sender
        .send({ delivery, endpoint, owner, settle }, signal)
        .catch((error: unknown) => {
          signal.throwIfAborted();
          return ownFailure(delivery, error);
        });
      sent(delivery, result);
      this.#judge(result);
      const answer = await ledger.record({ webhookId, epoch, eventId, at, result });
      if (answer === 'lost') this.cut();
      if (answer === 'failing_for_long') this.#disable('failing');
    } catch (error) {
      // An attempt that we aborted is no result of the receiver: it is retried.
      if (!signal.aborted) this.#failure ??= { error };
      this.#end();
    } finally {
      this.#held.delete(delivery.eventId);
      this.#underWay -= 1;
      this.#busyAtMs = this.#setting.clock.elapsedMs();
      this.#changed.announce();
    }
  }

  #judge({ health, outcome }: AttemptResult): void {
    const atMs = this.#setting.clock.elapsedMs();
    if (health.kind !== 'unknown')
      this.#breaker = afterAttempt(this.#breaker, { isFailure: health.kind !== 'well', atMs });
    const openForMs = admits(this.#breaker, atMs) === 'none' ? (this.#breaker.openUntilMs ?? atMs) - atMs : 0;
    const pauseMs = Math.max(openForMs, health.kind === 'busy' ? health.pauseMs : 0);
    if (pauseMs > 0) this.#end(pauseMs);
    if (health.kind === 'gone') this.#disable('gone');
    // Nothing overtakes a delivery that must be retried.
    if (this.#setting.claim.isOrdered && outcome.state === 'due') this.#end();
  }

  #disable(reason: DisabledReason): void {
    if (this.#state.kind !== 'disabling') this.#state = { kind: 'disabling', reason };
    this.#changed.announce();
  }

  #end(pauseMs = 0): Ending {
    const ending = endingOf(this.#state, pauseMs);
    this.#state = ending;
    this.#changed.announce();
    return ending;
  }
}

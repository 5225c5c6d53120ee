import type { EventId } from '#shared/brands.ts';
import type { DisabledReason } from '#shared/events/webhook.ts';
import { Changed } from './changed.ts';
import { admits, afterAttempt } from './deliver/breaker.ts';
import type { AttemptResult, Breaker, Delivery, Endpoint, Owner, Sender, Shape } from './deliver/delivery.ts';
import type { RunLedger } from './ledger/run-ledger.ts';
import { type Claim, RUN_LEASE_MS } from './ledger/runs.ts';
import { Pace, Slice } from './pace.ts';
import { type Ending, endingOf, type RunState } from './run-state.ts';

export type RunSetting = {
  readonly claim: Claim;
  readonly endpoint: Endpoint;
  readonly owner: Owner;
  readonly breaker: Breaker;
  readonly ledger: RunLedger;
  readonly sender: Sender;
  sent(delivery: Delivery, result: AttemptResult): void;
  /** What to do where an attempt failed because of ourselves; throws where all others would fail as well. */
  spoilt(delivery: Delivery, error: unknown): AttemptResult;
};

/** While something slow is under way, whatever has become due meanwhile is looked for. */
const LOOK_EVERY_MS = 100;
const TAKEN_PER_LANE = 4;
const TAKEN_MAX = 200;

type Worked = { readonly ending: Ending; readonly breaker: Breaker; readonly nextSendInMs: number };

/** Sends to one webhook what is due, as long as it is its own: so many at once, at its pace, and no more while it fails. */
export class Run {
  readonly #setting: RunSetting;
  readonly #pace: Pace;
  readonly #lanes: number;
  readonly #lost = new AbortController();
  readonly #held = new Set<EventId>();
  #state: RunState = { kind: 'sending', waiting: [], mayBeMore: true };
  #underWay = 0;
  #breaker: Breaker;
  #leasedUntilMs: number;
  readonly #slice = new Slice(performance.now());
  readonly #changed = new Changed();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(setting: RunSetting, claimedAtMs: number) {
    const { claim, breaker } = setting;
    this.#setting = setting;
    this.#breaker = breaker;
    this.#pace = new Pace(claim.ratePerSecond, performance.now() + claim.nextSendInMs);
    this.#lanes = claim.isOrdered ? 1 : claim.concurrency;
    this.#leasedUntilMs = claimedAtMs + RUN_LEASE_MS;
  }

  /** Rejects with the first failure of ours, once nothing is under way any more. */
  async work(): Promise<Worked> {
    const outcomes = await Promise.allSettled(Array.from({ length: this.#lanes }, () => this.#lane()));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
    return { ending: this.#end(), breaker: this.#breaker, nextSendInMs: this.#pace.leftMs(performance.now()) };
  }

  /** Begins nothing any more. */
  stop(): void {
    this.#end();
  }

  /** Leaves off what is under way as well; what comes of it is not recorded. */
  cut(): void {
    this.#end();
    this.#lost.abort();
  }

  /** Says that it goes on; one that could not say so in time leaves its webhook alone. */
  async renew(): Promise<void> {
    const askedAtMs = performance.now();
    const isHeld = await this.#setting.ledger.renew(this.#setting.claim).catch(() => undefined);
    if (isHeld === true) this.#leasedUntilMs = askedAtMs + RUN_LEASE_MS;
    if (isHeld === false || performance.now() > this.#leasedUntilMs) this.cut();
  }

  async #lane(): Promise<void> {
    try {
      for (let delivery = await this.#next(); delivery; delivery = await this.#next()) await this.#attempt(delivery);
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  /** One lane after the other looks for what to send. */
  #next(): Promise<Delivery | undefined> {
    const next = this.#turn.then(() => this.#choose());
    this.#turn = next.catch(() => {});
    return next;
  }

  async #choose(): Promise<Delivery | undefined> {
    while (this.#goesOn()) {
      const waitMs = this.#mustWaitMs();
      if (waitMs > 0) {
        await this.#changed.wait(waitMs);
        continue;
      }
      const delivery = await this.#take();
      if (delivery) {
        this.#pace.take(performance.now());
        this.#underWay += 1;
        this.#slice.count(performance.now());
        return delivery;
      }
      if (this.#underWay === 0) break;
      await this.#changed.wait(LOOK_EVERY_MS);
    }
    this.#end();
    return undefined;
  }

  #goesOn(): boolean {
    const nowMs = performance.now();
    if (this.#state.kind !== 'sending' || this.#slice.isFinished(nowMs) || nowMs > this.#leasedUntilMs) return false;
    const { waiting, mayBeMore } = this.#state;
    return this.#underWay > 0 || (!this.#slice.isOver(nowMs) && (mayBeMore || waiting.length > 0));
  }

  #mustWaitMs(): number {
    const nowMs = performance.now();
    const isTrying = admits(this.#breaker, performance.now()) !== 'all' && this.#underWay > 0;
    return Math.max(this.#slice.graceMs(nowMs), isTrying ? LOOK_EVERY_MS : 0, this.#pace.waitMs(nowMs));
  }

  /** The first that is waiting; if none is, more are looked for, during which another lane may end the run. */
  async #take(): Promise<Delivery | undefined> {
    if (this.#state.kind === 'sending' && this.#state.waiting.length === 0) {
      const { claim, ledger } = this.#setting;
      const many = Math.min(TAKEN_MAX, this.#lanes * TAKEN_PER_LANE);
      const { webhookId, isOrdered } = claim;
      const waiting = await ledger.take({ webhookId, isOrdered, many, held: [...this.#held] });
      if (this.#state.kind === 'sending') this.#state = { kind: 'sending', waiting, mayBeMore: waiting.length === many };
      for (const { eventId } of waiting) this.#held.add(eventId);
    }
    if (this.#state.kind !== 'sending') return undefined;
    const [delivery, ...waiting] = this.#state.waiting;
    this.#state = { ...this.#state, waiting };
    return delivery;
  }

  async #attempt(delivery: Delivery): Promise<void> {
    const { claim, endpoint, owner, sender, ledger, sent, spoilt } = this.#setting;
    const { webhookId, epoch } = claim;
    const { eventId } = delivery;
    const { signal } = this.#lost;
    try {
      const settle = async (shape: Shape): Promise<void> => {
        if (!(await ledger.settle({ webhookId, epoch, eventId, shape }))) this.cut();
        signal.throwIfAborted();
      };
      const at = new Date();
      const result = await sender.send({ delivery, endpoint, owner, settle }, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        return spoilt(delivery, error);
      });
      sent(delivery, result);
      this.#judge(result);
      const answer = await ledger.record({ webhookId, epoch, eventId, at, result });
      if (answer === 'lost') this.cut();
      if (answer === 'failing_for_long') this.#disable('failing');
    } catch (error) {
      // What we ended ourselves is not told of the receiver: it is tried again.
      if (!signal.aborted) throw error;
    } finally {
      this.#held.delete(delivery.eventId);
      this.#underWay -= 1;
      this.#changed.announce();
    }
  }

  #judge({ health, outcome }: AttemptResult): void {
    const atMs = performance.now();
    if (health.kind !== 'unknown') this.#breaker = afterAttempt(this.#breaker, { isFailure: health.kind !== 'well', atMs });
    const openForMs = admits(this.#breaker, atMs) === 'none' ? (this.#breaker.openUntilMs ?? atMs) - atMs : 0;
    const pauseMs = Math.max(openForMs, health.kind === 'busy' ? health.pauseMs : 0);
    if (pauseMs > 0) this.#end(pauseMs);
    if (health.kind === 'gone') this.#disable('gone');
    // Nothing overtakes what must be tried again.
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

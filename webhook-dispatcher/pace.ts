/** Spreads the deliveries to one webhook over the second: its rate, with a burst of a tenth. */
export class Pace {
  readonly #intervalMs: number;
  readonly #toleranceMs: number;
  /** The time of the next delivery if all were evenly spaced. */
  #nextAtMs: number;

  constructor(ratePerSecond: number, nextAtMs: number) {
    this.#intervalMs = 1_000 / ratePerSecond;
    this.#toleranceMs = this.#intervalMs * (Math.max(1, Math.ceil(ratePerSecond / BURST_SHARE)) - 1);
    this.#nextAtMs = nextAtMs;
  }

  waitMs(nowMs: number): number {
    return Math.max(0, this.#nextAtMs - this.#toleranceMs - nowMs);
  }

  take(nowMs: number): void {
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs) + this.#intervalMs;
  }

  /** The remaining wait, for the next run. */
  leftMs(nowMs: number): number {
    return Math.max(0, this.#nextAtMs - nowMs);
  }
}

const BURST_SHARE = 10;

const SLICE_MS = 2_000;
const SENT_MAX = 500;
const GRACE_MS = 250;
const RUN_MAX_MS = 30_000;

/**
 * The time slice of a run: after it, the run starts nothing, so that others get their turn. If something slow
 * keeps it alive anyway, it resumes after a grace period.
 */
export class Slice {
  readonly #finishedAtMs: number;
  #overAtMs: number;
  #sent = 0;

  constructor(nowMs: number) {
    this.#overAtMs = nowMs + SLICE_MS;
    this.#finishedAtMs = nowMs + RUN_MAX_MS;
  }

  count(nowMs: number): void {
    this.#sent += 1;
    if (this.#sent === SENT_MAX) this.#overAtMs = Math.min(this.#overAtMs, nowMs);
  }

  /** True if the run ends once nothing is in progress. */
  isOver(nowMs: number): boolean {
    return nowMs >= this.#overAtMs;
  }

  /** True if the run starts nothing more, whatever is in progress. */
  isFinished(nowMs: number): boolean {
    return nowMs >= this.#finishedAtMs;
  }

  /** The time for which it starts nothing. */
  graceMs(nowMs: number): number {
    return this.isOver(nowMs) ? Math.max(0, this.#overAtMs + GRACE_MS - nowMs) : 0;
  }
}

/** Spreads what is sent to one webhook over the second: its rate, with a tenth of it at once. */
export class Pace {
  readonly #intervalMs: number;
  readonly #toleranceMs: number;
  /** When the next one would come if all came evenly. */
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

  /** What is left of it for the run that comes next. */
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
 * How long a run keeps its place among those that are worked off at once: after its slice it begins nothing,
 * so that others have their turn. Where something slow keeps the place anyway, it goes on after a while.
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

  /** Whether it ends once nothing is under way. */
  isOver(nowMs: number): boolean {
    return nowMs >= this.#overAtMs;
  }

  /** Whether it begins nothing any more, whatever is under way. */
  isFinished(nowMs: number): boolean {
    return nowMs >= this.#finishedAtMs;
  }

  /** For how long it is to begin nothing. */
  graceMs(nowMs: number): number {
    return this.isOver(nowMs) ? Math.max(0, this.#overAtMs + GRACE_MS - nowMs) : 0;
  }
}

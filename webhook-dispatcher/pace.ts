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

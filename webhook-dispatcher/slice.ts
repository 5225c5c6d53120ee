const SLICE_MS = 2_000;
const SENT_MAX = 500;
const GRACE_MS = 250;
const RUN_MAX_MS = 30_000;

/**
 * How long a run keeps its place among those that are worked off at once: after its slice it begins nothing, so that others have
 * their turn. Where something slow keeps the place anyway, it goes on after a while.
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

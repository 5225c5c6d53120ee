/** The offset of the time from real time; tests and the demo set it. */
export type Clock = {
  aheadMs(): number;
  /** A fixed time, if the clock does not run. */
  nowMs?(): number | undefined;
};
export const REAL_TIME: Clock = { aheadMs: () => 0 };

export const nowOf = (clock: Clock): Date => new Date(clock.nowMs?.() ?? Date.now() + clock.aheadMs());

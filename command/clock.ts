/** How far the time is ahead of the real one: tests move it, and the story of a demo declares it. */
export type Clock = {
  aheadMs(): number;
  /** The declared time itself, where it stands still. */
  nowMs?(): number | undefined;
};
export const REAL_TIME: Clock = { aheadMs: () => 0 };

export const nowOf = (clock: Clock): Date => new Date(clock.nowMs?.() ?? Date.now() + clock.aheadMs());

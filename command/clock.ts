/** How far the time is ahead of the real one: tests move it. */
export type Clock = { aheadMs(): number };
export const REAL_TIME: Clock = { aheadMs: () => 0 };

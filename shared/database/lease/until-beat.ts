/** A timer may fire a little early, and must not fire twice for a beat. */
const EARLY_MAX = 1 / 16;

/** The leases of a process are due at the same times, so that one statement renews them all. */
export const untilBeat = (everyMs: number, nowMs: number): number => {
  const leftMs = everyMs - (nowMs % everyMs);
  return leftMs < EARLY_MAX * everyMs ? leftMs + everyMs : leftMs;
};

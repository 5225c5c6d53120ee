import type { Breaker } from './delivery.ts';

const WINDOW_MS = 30_000;
/** Of a quick endpoint the latest of the window are enough. */
const RECENT_MAX = 100;
const ATTEMPTS_MIN = 10;
const FAILURE_SHARE = 0.7;
const OPEN_MS = 30_000;
const OPEN_MAX_MS = 600_000;

type Result = { readonly isFailure: boolean; readonly atMs: number };

/** A breaker of which this much outlived the run before. */
export const restored = ({ openings, openUntilMs }: Pick<Breaker, 'openings' | 'openUntilMs'>): Breaker => ({
  recent: [],
  openings,
  openUntilMs,
});

/**
 * How many attempts may be under way: none while it is open; then one, on which it depends whether it closes.
 */
export const admits = ({ openUntilMs }: Breaker, atMs: number): 'all' | 'one' | 'none' => {
  if (openUntilMs === null) return 'all';
  return atMs < openUntilMs ? 'none' : 'one';
};

export const afterAttempt = (breaker: Breaker, { isFailure, atMs }: Result): Breaker => {
  const { openUntilMs, openings } = breaker;
  if (openUntilMs !== null) {
    // It was under way when the breaker opened, and says nothing new.
    if (atMs < openUntilMs) return breaker;
    return isFailure ? opened(openings, atMs) : CLOSED;
  }
  const recent = [...latest(breaker.recent, atMs), { isFailure, atMs }];
  if (!isFailure) return { recent, openings: 0, openUntilMs };
  const failures = recent.filter((each) => each.isFailure).length;
  const isOpening = recent.length >= ATTEMPTS_MIN && failures >= FAILURE_SHARE * recent.length;
  return isOpening ? opened(openings, atMs) : { recent, openings, openUntilMs };
};

/** They are in the order of their times. */
const latest = (recent: Breaker['recent'], atMs: number): Breaker['recent'] => {
  const first = recent.findIndex((each) => atMs - each.atMs < WINDOW_MS);
  return first === -1 ? [] : recent.slice(Math.max(first, recent.length - RECENT_MAX + 1));
};

const CLOSED: Breaker = { recent: [], openings: 0, openUntilMs: null };

/** Each time in a row twice as long. */
const opened = (openings: number, atMs: number): Breaker => ({
  recent: [],
  openings: openings + 1,
  openUntilMs: atMs + Math.min(OPEN_MS * 2 ** openings, OPEN_MAX_MS),
});

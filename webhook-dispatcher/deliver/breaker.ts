import type { Breaker } from './delivery.ts';

const WINDOW_MS = 30_000;
/** Enough for a fast endpoint with many results in the window. */
const RECENT_MAX = 100;
const ATTEMPTS_MIN = 10;
const FAILURE_SHARE = 0.7;
const OPEN_MS = 30_000;
const OPEN_MAX_MS = 600_000;

type Result = { readonly isFailure: boolean; readonly atMs: number };

/** Restores a breaker from the part that outlived the previous run. */
export const restored = ({ openings, openUntilMs }: Pick<Breaker, 'openings' | 'openUntilMs'>): Breaker => ({
  recent: [],
  openings,
  openUntilMs,
});

/** The number of attempts it admits: none while open; then one, which decides whether it closes. */
export const admits = ({ openUntilMs }: Breaker, atMs: number): 'all' | 'one' | 'none' => {
  if (openUntilMs === null) return 'all';
  return atMs < openUntilMs ? 'none' : 'one';
};

export const afterAttempt = (breaker: Breaker, { isFailure, atMs }: Result): Breaker => {
  const { openUntilMs, openings } = breaker;
  if (openUntilMs !== null) {
    // The attempt started before the breaker opened, and says nothing new.
    if (atMs < openUntilMs) return breaker;
    return isFailure ? opened(openings, atMs) : CLOSED;
  }
  const recent = [...latest(breaker.recent, atMs), { isFailure, atMs }];
  if (!isFailure) return { recent, openings: 0, openUntilMs };
  const failures = recent.filter((each) => each.isFailure).length;
  const isOpening = recent.length >= ATTEMPTS_MIN && failures >= FAILURE_SHARE * recent.length;
  return isOpening ? opened(openings, atMs) : { recent, openings, openUntilMs };
};

/** Results are in order of time. */
const latest = (recent: Breaker['recent'], atMs: number): Breaker['recent'] => {
  const first = recent.findIndex((each) => atMs - each.atMs < WINDOW_MS);
  return first === -1 ? [] : recent.slice(Math.max(first, recent.length - RECENT_MAX + 1));
};

const CLOSED: Breaker = { recent: [], openings: 0, openUntilMs: null };

/** Doubles with each opening in a row. */
const opened = (openings: number, atMs: number): Breaker => ({
  recent: [],
  openings: openings + 1,
  openUntilMs: atMs + Math.min(OPEN_MS * 2 ** openings, OPEN_MAX_MS),
});

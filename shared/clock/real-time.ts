import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/** Node’s own time and timers, without a layer in between: appends and notifications use them. */
export const REAL_TIME: Clock = {
  nowMs: () => Date.now(),
  aheadMs: () => 0,
  elapsedMs: () => performance.now(),
  sleep: (ms, signal, { ref = true } = {}) => delay(ms, undefined, { signal, ref }).catch(() => {}),
  after: (ms, work) => setTimeout(work, ms),
  every: (ms, work) => setInterval(work, ms),
};

/** A clock that runs like the real one, but is ahead of it: tests and demos of a domain move the dates. */
export const realTimeAhead = (aheadMs: () => number): Clock => ({
  ...REAL_TIME,
  nowMs: () => Date.now() + aheadMs(),
  aheadMs,
});

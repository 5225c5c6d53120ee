import { vi } from 'vitest';

/** Longer than an announced write may take to be appended. */
const ANNOUNCED_MAX_MS = 3_000;

/** Moves only the clock, until `vi.useRealTimers()`; timers are unaffected. */
export const later = (byMs = ANNOUNCED_MAX_MS): void => {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(now + byMs);
};

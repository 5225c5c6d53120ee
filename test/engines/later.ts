import { vi } from 'vitest';

/** Longer than what was announced may take to be appended. */
const ANNOUNCED_MAX_MS = 3_000;

/** Moves the clock alone, until `vi.useRealTimers()`; timers go on. */
export const later = (byMs = ANNOUNCED_MAX_MS): void => {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(now + byMs);
};

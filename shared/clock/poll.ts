import type { Clock } from './clock.ts';

type Polling = {
  readonly clock: Pick<Clock, 'elapsedMs' | 'sleep'>;
  readonly everyMs: number;
  readonly withinMs: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Looks until it finds something, or it is so. Returns what the last look found: nothing, or false, if it was
 * not within the time, or the signal aborted. Looks at least once.
 */
export const poll = async <Found>(
  { clock, everyMs, withinMs, signal }: Polling,
  look: () => Found | Promise<Found>,
): Promise<Found> => {
  const endsAtMs = clock.elapsedMs() + withinMs;
  for (;;) {
    const found = await look();
    if (found || signal?.aborted || clock.elapsedMs() >= endsAtMs) return found;
    await clock.sleep(everyMs, signal);
  }
};

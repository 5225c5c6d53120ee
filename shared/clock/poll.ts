import type { Clock } from './clock.ts';

type Polling = {
  readonly clock: Pick<Clock, 'elapsedMs' | 'sleep'>;
  readonly everyMs: number;
  readonly withinMs: number;
  readonly signal?: AbortSignal | undefined;
};

/** Looks until it is so: false if it is not within the time, or the signal aborts. Looks at least once. */
export const poll = async (
  { clock, everyMs, withinMs, signal }: Polling,
  look: () => boolean | Promise<boolean>,
): Promise<boolean> => {
  const endsAtMs = clock.elapsedMs() + withinMs;
  for (;;) {
    if (await look()) return true;
    if (signal?.aborted || clock.elapsedMs() >= endsAtMs) return false;
    await clock.sleep(everyMs, signal);
  }
};

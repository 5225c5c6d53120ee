import type { Clock } from '#shared/clock/clock.ts';

/** A timer may fire a little early, and must not fire twice for a beat. */
const EARLY_MAX = 1 / 16;

/** The leases of a process are due at the same times, so that one statement renews them all. */
export const untilBeat = (everyMs: number, nowMs: number): number => {
  const leftMs = everyMs - (nowMs % everyMs);
  return leftMs < EARLY_MAX * everyMs ? leftMs + everyMs : leftMs;
};

type Beating = Pick<Clock, 'elapsedMs' | 'sleep'>;

const beats = new Map<number, Promise<void>>();

/** Resolves for all of them at the same time, by one timer, or earlier with the signal. */
export const nextBeat = (everyMs: number, signal: AbortSignal, clock: Beating): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => {
    signal.removeEventListener('abort', done);
    resolve();
  };
  signal.addEventListener('abort', done);
  if (signal.aborted) done();
  else void beatOf(everyMs, clock).then(done);
  return promise;
};

/** The connections of those who wait keep the process alive. */
const beatOf = (everyMs: number, { elapsedMs, sleep }: Beating): Promise<void> => {
  const beat = beats.get(everyMs) ?? sleep(untilBeat(everyMs, elapsedMs()), undefined, { ref: false });
  if (!beats.has(everyMs)) {
    beats.set(everyMs, beat);
    void beat.then(() => beats.delete(everyMs));
  }
  return beat;
};

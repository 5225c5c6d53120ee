import { setTimeout as delay } from 'node:timers/promises';

/** A timer may fire a little early, and must not fire twice for a beat. */
const EARLY_MAX = 1 / 16;

/** The leases of a process are due at the same times, so that one statement renews them all. */
export const untilBeat = (everyMs: number, nowMs: number): number => {
  const leftMs = everyMs - (nowMs % everyMs);
  return leftMs < EARLY_MAX * everyMs ? leftMs + everyMs : leftMs;
};

const beats = new Map<number, Promise<void>>();

/** Resolves for all of them at the same time, by one timer, or earlier with the signal. */
export const nextBeat = (everyMs: number, signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => {
    signal.removeEventListener('abort', done);
    resolve();
  };
  signal.addEventListener('abort', done);
  if (signal.aborted) done();
  else void beatOf(everyMs).then(done);
  return promise;
};

/** The connections of those who wait keep the process alive. */
const beatOf = (everyMs: number): Promise<void> => {
  const beat = beats.get(everyMs) ?? delay(untilBeat(everyMs, performance.now()), undefined, { ref: false });
  if (!beats.has(everyMs)) {
    beats.set(everyMs, beat);
    void beat.then(() => beats.delete(everyMs));
  }
  return beat;
};

import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Timer } from '#shared/clock/clock.ts';
import { until } from '../../testing/until.ts';

/** A clock that stands still until a test moves it. */
export type TestClock = Clock & {
  /**
   * Moves the time on. Timers and sleepers that become due run in order, each at its time, with all their
   * continuations that need no input or output; so do the timers that these start within the time.
   */
  advance(ms: number): Promise<void>;
  /** How long each timer and sleeper still waits, the first to become due first. */
  pending(): readonly number[];
  /**
   * Waits, in real time, until somebody sleeps for exactly this long, and moves the time on by as much: for work
   * that uses a real database between two sleeps.
   */
  pass(ms: number): Promise<void>;
  /**
   * Moves the time on by steps until a condition holds: for loops whose rounds use a real engine. Each step
   * leaves the engine real time to answer.
   */
  advanceUntil<Seen>(
    stepMs: number,
    look: () => Promise<Seen> | Seen,
    isIt: (seen: Seen) => boolean,
  ): Promise<Seen>;
  /** Moves the time on by such steps, some in each moment of real time, until it is disposed. */
  keepMoving(stepMs: number): AsyncDisposable;
};

type Waiting = { dueMs: number; readonly everyMs: number | undefined; readonly work: () => void };

/** The real time between two steps. */
const STEP_AFTER_MS = 10;
/** Turns of the event loop before the next timer, because a continuation may await others. */
const TURNS = 4;

export const createTestClock = (startsAtMs = Date.now()): TestClock => {
  let elapsedMs = 0;
  // In the order of their start, which decides between two that are due at the same time.
  const waiting = new Set<Waiting>();

  const start = (ms: number, work: () => void, everyMs?: number): Timer => {
    // As in Node, a timer takes at least a millisecond.
    const each: Waiting = { dueMs: elapsedMs + Math.max(ms, 1), everyMs, work };
    waiting.add(each);
    const timer: Timer = { unref: () => timer, [Symbol.dispose]: () => void waiting.delete(each) };
    return timer;
  };

  const inOrder = (): Waiting[] => [...waiting].toSorted((one, other) => one.dueMs - other.dueMs);

  const fire = (each: Waiting): void => {
    waiting.delete(each);
    if (each.everyMs !== undefined) {
      each.dueMs += Math.max(each.everyMs, 1);
      waiting.add(each);
    }
    each.work();
  };

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
  };

  const clock: TestClock = {
    nowMs: () => startsAtMs + elapsedMs,
    aheadMs: () => startsAtMs + elapsedMs - Date.now(),
    elapsedMs: () => elapsedMs,
    async sleep(ms, signal) {
      if (signal?.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      using _timer = start(ms, resolve);
      const onAbort = () => resolve();
      signal?.addEventListener('abort', onAbort);
      await promise;
      signal?.removeEventListener('abort', onAbort);
    },
    after: (ms, work) => start(ms, work),
    every: (ms, work) => start(ms, work, ms),
    async advance(ms) {
      const untilMs = elapsedMs + ms;
      await settle();
      for (let [next] = inOrder(); next !== undefined && next.dueMs <= untilMs; [next] = inOrder()) {
        elapsedMs = Math.max(elapsedMs, next.dueMs);
        fire(next);
        await settle();
      }
      elapsedMs = Math.max(elapsedMs, untilMs);
    },
    pending: () => inOrder().map(({ dueMs }) => dueMs - elapsedMs),
    async pass(ms) {
      await until(clock.pending, (pending) => pending.includes(ms));
      await clock.advance(ms);
    },
    advanceUntil: (stepMs, look, isIt) =>
      until(async () => {
        const seen = await look();
        if (!isIt(seen)) await clock.advance(stepMs);
        return seen;
      }, isIt),
    keepMoving(stepMs) {
      const stopping = new AbortController();
      const moving = (async () => {
        while (!stopping.signal.aborted) {
          await clock.advance(stepMs);
          await delay(STEP_AFTER_MS);
        }
      })();
      return {
        async [Symbol.asyncDispose]() {
          stopping.abort();
          await moving;
        },
      };
    },
  };
  return clock;
};

import { describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock/clock.ts';

type ClockEngine = {
  readonly clock: Clock;
  /** Lets at least this time pass by the clock. */
  pass(ms: number): Promise<void>;
};

/** Longer than a turn of the event loop on a loaded machine may take. */
const SHORT_MS = 5;
const LONG_MS = 60_000;
/** Node’s timers may fire this much earlier than `performance.now` says. */
const EARLY_MAX_MS = 1;

/** The contract of every clock. */
export const testClock = (name: string, open: () => ClockEngine): void => {
  describe(`a clock: ${name}`, () => {
    test('its date and its elapsed time move on together, and it knows its offset from real time', async () => {
      const { clock, pass } = open();
      const [nowMs, elapsedMs] = [clock.nowMs(), clock.elapsedMs()];
      await pass(SHORT_MS);
      expect(clock.elapsedMs() - elapsedMs).toBeGreaterThanOrEqual(SHORT_MS);
      expect(clock.nowMs() - nowMs).toBeGreaterThanOrEqual(SHORT_MS - EARLY_MAX_MS);
      const beforeMs = Date.now() + clock.aheadMs();
      const ofClockMs = clock.nowMs();
      const afterMs = Date.now() + clock.aheadMs();
      // Of a clock that stands still, the offset decreases.
      expect(ofClockMs).toBeGreaterThanOrEqual(beforeMs - EARLY_MAX_MS);
      expect(ofClockMs).toBeLessThanOrEqual(afterMs + EARLY_MAX_MS);
    });

    test('sleepers wake in the order in which they are due, none too early', async () => {
      const { clock, pass } = open();
      const beganMs = clock.elapsedMs();
      const woken: number[] = [];
      const sleep = async (ms: number) => {
        await clock.sleep(ms);
        woken.push(ms);
        expect(clock.elapsedMs() - beganMs).toBeGreaterThanOrEqual(ms - EARLY_MAX_MS);
      };
      const all = Promise.all([sleep(6 * SHORT_MS), sleep(SHORT_MS), sleep(3 * SHORT_MS)]);
      await pass(6 * SHORT_MS);
      await all;
      expect(woken).toEqual([SHORT_MS, 3 * SHORT_MS, 6 * SHORT_MS]);
    });

    test('a sleeper that sleeps again is woken again', async () => {
      const { clock, pass } = open();
      const sleeping = (async () => {
        for (let round = 0; round < 3; round += 1) await clock.sleep(SHORT_MS);
        return clock.elapsedMs();
      })();
      const beganMs = clock.elapsedMs();
      await pass(3 * SHORT_MS);
      expect((await sleeping) - beganMs).toBeGreaterThanOrEqual(3 * (SHORT_MS - EARLY_MAX_MS));
    });

    test('a signal wakes a sleeper, and an aborted one lets nobody sleep', async () => {
      const { clock } = open();
      const waking = new AbortController();
      const sleeping = clock.sleep(LONG_MS, waking.signal);
      waking.abort();
      await sleeping;
      await clock.sleep(LONG_MS, waking.signal);
      await clock.sleep(LONG_MS, AbortSignal.abort(), { ref: false });
    });

    test('a timer calls back once, unless it is disposed', async () => {
      const { clock, pass } = open();
      const called: string[] = [];
      clock.after(SHORT_MS, () => called.push('once')).unref();
      const { promise, resolve } = Promise.withResolvers<void>();
      clock.after(3 * SHORT_MS, resolve);
      {
        using _disposed = clock.after(SHORT_MS, () => called.push('never'));
      }
      await pass(3 * SHORT_MS);
      await promise;
      expect(called).toEqual(['once']);
    });

    test('an interval calls back until it is disposed, even from within', async () => {
      const { clock, pass } = open();
      let calls = 0;
      const { promise, resolve } = Promise.withResolvers<void>();
      const interval = clock.every(SHORT_MS, () => {
        calls += 1;
        if (calls < 3) return;
        interval[Symbol.dispose]();
        resolve();
      });
      await pass(3 * SHORT_MS);
      await promise;
      await pass(3 * SHORT_MS);
      expect(calls).toBe(3);
    });
  });
};

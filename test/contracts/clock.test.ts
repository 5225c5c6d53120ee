import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { REAL_TIME, realTimeAhead } from '#shared/clock/real-time.ts';
import { createTestClock } from '../engines/test-clock.ts';
import { testClock } from './clock-contract.ts';

const HOUR_MS = 3_600_000;

/** A timer of Node may fire a moment before `performance.now` has moved as far. */
const pass = async (ms: number): Promise<void> => {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs; ) await delay(1);
};

testClock('the real one', () => ({ clock: REAL_TIME, pass }));
testClock('the real one, ahead', () => ({ clock: realTimeAhead(() => HOUR_MS), pass }));
testClock('the one that tests move', () => {
  const clock = createTestClock(Date.now() + HOUR_MS);
  return { clock, pass: clock.advance };
});

test('a moved clock wakes each sleeper at its time, and stands still in between', async () => {
  const clock = createTestClock(0);
  const woken: (readonly [name: string, atMs: number])[] = [];
  const sleep = async (name: string, everyMs: number) => {
    for (let round = 0; round < 2; round += 1) {
      await clock.sleep(everyMs);
      woken.push([name, clock.nowMs()]);
    }
  };
  void sleep('slow', 3_000);
  void sleep('quick', 2_000);
  await clock.advance(1_000);
  expect(clock.pending()).toEqual([1_000, 2_000]);
  await clock.advance(5_000);
  // Sleepers that are due at one time wake in the order in which they began.
  expect(woken).toEqual([
    ['quick', 2_000],
    ['slow', 3_000],
    ['quick', 4_000],
    ['slow', 6_000],
  ]);
  expect([clock.nowMs(), clock.pending()]).toEqual([6_000, []]);
});

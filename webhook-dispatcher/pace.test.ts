import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

/** The number of deliveries within `ms`, each sent as soon as permitted. */
const sentWithin = (pace: Pace, ms: number): number => {
  let nowMs = 0;
  for (let sent = 0; ; sent += 1) {
    nowMs += pace.waitMs(nowMs);
    if (nowMs > ms) return sent;
    pace.take(nowMs);
  }
};

test.each([
  [1, 10_000, 11],
  [50, 1_000, 55],
  [1_000, 1_000, 1_100],
])(
  'at %i per second, %i ms allow %i deliveries, including a burst of a tenth of a second',
  (rate, ms, sent) => {
    expect(sentWithin(new Pace(rate, 0), ms)).toBeGreaterThanOrEqual(sent - 1);
    expect(sentWithin(new Pace(rate, 0), ms)).toBeLessThanOrEqual(sent);
  },
);

test('the next run continues at the pace of the previous one', () => {
  const pace = new Pace(1, 0);
  pace.take(0);
  expect(pace.leftMs(200)).toBe(800);
  expect(new Pace(1, 200 + pace.leftMs(200)).waitMs(200)).toBe(800);
  expect(pace.leftMs(5_000)).toBe(0);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadConfig } from '#process/load-config.ts';
import { retryInMs } from './schedule.ts';

const { retryDelaysMs: delaysMs } = loadConfig({}).webhooks;

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('by default it retries for more than three days, at growing intervals, and then gives up', () => {
  const delays = delaysMs.map(
    (_, attempts) => retryInMs({ delaysMs, attempts, random: 0.5, retryAfterMs: undefined }) ?? 0,
  );
  expect(delays).toEqual(
    [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((seconds) => seconds * 1_000),
  );
  expect(delays.reduce((sum, delay) => sum + delay, 0)).toBeGreaterThan(3 * 86_400_000);
  expect(
    retryInMs({ delaysMs, attempts: delaysMs.length, random: 0.5, retryAfterMs: 1_000 }),
  ).toBeUndefined();
});

test('a delay varies by a fifth at most', () => {
  fc.assert(
    fc.property(fc.nat(delaysMs.length - 1), random, (attempts, chance) => {
      const delay = retryInMs({ delaysMs, attempts, random: chance, retryAfterMs: undefined }) ?? 0;
      const planned = delaysMs[attempts] ?? 0;
      expect(delay).toBeGreaterThanOrEqual(0.8 * planned);
      expect(delay).toBeLessThanOrEqual(1.2 * planned);
    }),
  );
});

test('a retry is never sooner than the receiver asks for', () => {
  fc.assert(
    fc.property(fc.nat(delaysMs.length - 1), random, fc.nat(86_400_000), (attempts, chance, retryAfterMs) => {
      expect(retryInMs({ delaysMs, attempts, random: chance, retryAfterMs })).toBeGreaterThanOrEqual(
        retryAfterMs,
      );
    }),
  );
});

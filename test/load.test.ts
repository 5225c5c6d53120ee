import { expect, test } from 'vitest';
import { scaled, slownessOf, startDeadline } from '../testing/load.ts';
import { until } from '../testing/until.ts';

test.each([
  ['a quiet machine', 0, 1],
  ['the tests alone', 4, 1],
  ['as much again', 8, 3],
  ['sixteen at once', 16, 7],
])('limits scale with %s', (_, processes, slowness) => {
  expect(slownessOf(processes, 2)).toBe(slowness);
});

test('a wait ends with the last value, at its deadline, scaled by the load', async () => {
  const deadline = startDeadline(50);
  await expect(
    until(
      () => 'nothing',
      (seen) => seen !== 'nothing',
      50,
    ),
  ).rejects.toThrow(/not within 50 ms.*last seen: "nothing"/);
  expect(await until(() => deadline.isOver(), Boolean, 50)).toBe(true);
  expect(scaled(50)).toBeGreaterThanOrEqual(50);
});

import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../../testing/until.ts';
import { ringLater } from './ring-later.ts';

test('it notifies after the waiting writer has its response, and once for all appends that soon follow', async () => {
  const told: string[] = [];
  const ring = ringLater(() => void told.push('rung'));
  ring();
  void Promise.resolve().then(() => told.push('answered'));
  await endOfTurn();
  expect(told).toEqual(['answered', 'rung']);
  for (let count = 0; count < 3; count += 1) ring();
  expect(told).toHaveLength(2);
  await until(
    () => told.length,
    (length) => length === 3,
  );
  // An append is notified once: only the next one notifies again.
  ring();
  await until(
    () => told.length,
    (length) => length > 3,
  );
  expect(told).toHaveLength(4);
});

import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { until } from '../../testing/until.ts';
import { notifyLater } from './notify-later.ts';

test('it notifies after the waiting writer has its response, and once for all appends that soon follow', async () => {
  const order: string[] = [];
  const notify = notifyLater(() => void order.push('notified'), REAL_TIME);
  notify();
  void Promise.resolve().then(() => order.push('answered'));
  await endOfTurn();
  expect(order).toEqual(['answered', 'notified']);
  for (let count = 0; count < 3; count += 1) notify();
  expect(order).toHaveLength(2);
  await until(
    () => order.length,
    (length) => length === 3,
  );
  // An append is notified once: only the next one notifies again.
  notify();
  await until(
    () => order.length,
    (length) => length > 3,
  );
  expect(order).toHaveLength(4);
});

import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { until } from '../../testing/until.ts';
import { notifyLater } from './notify-later.ts';

test('it notifies after the waiting writer has its response, and once for all appends that soon follow', async () => {
  const told: string[] = [];
  const notify = notifyLater(() => void told.push('notified'), REAL_TIME);
  notify();
  void Promise.resolve().then(() => told.push('answered'));
  await endOfTurn();
  expect(told).toEqual(['answered', 'notified']);
  for (let count = 0; count < 3; count += 1) notify();
  expect(told).toHaveLength(2);
  await until(
    () => told.length,
    (length) => length === 3,
  );
  // An append is notified once: only the next one notifies again.
  notify();
  await until(
    () => told.length,
    (length) => length > 3,
  );
  expect(told).toHaveLength(4);
});

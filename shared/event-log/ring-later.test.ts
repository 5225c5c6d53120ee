import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../../testing/until.ts';
import { ringLater } from './ring-later.ts';

test('it rings once who waits has been answered, and for all that comes soon after that together', async () => {
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
  // What was rung for already is not rung for again: only the next append is.
  ring();
  await until(
    () => told.length,
    (length) => length > 3,
  );
  expect(told).toHaveLength(4);
});

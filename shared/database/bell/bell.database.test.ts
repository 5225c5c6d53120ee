import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createDatabase } from '../../../test/engines/database.ts';
import { scaled } from '../../../test/engines/load.ts';
import { pauseBackends } from '../../../test/engines/pause-backends.ts';
import { until } from '../../../test/engines/until.ts';
import { PostgresBell } from './bell.ts';

/** Once it listens, a bell rings by itself. */
const openBell = async (url: string): Promise<PostgresBell> => {
  const bell = new PostgresBell({ url, channel: 'annals_event_log' });
  await until(
    () => bell.heard,
    (heard) => heard === 1,
  );
  return bell;
};

test('a ring is heard elsewhere, and where it was rung not a second time', async () => {
  await using database = await createDatabase();
  await using one = await openBell(database.url);
  await using two = await openBell(database.url);
  one.ringEverywhere();
  await until(
    () => two.heard,
    (heard) => heard === 2,
  );
  // What must not come cannot be waited for; it would be here by now.
  await delay(100);
  expect([one.heard, two.heard]).toEqual([2, 2]);
});

test('it rings again only when the last ring was answered, and connects anew where that does not come', async () => {
  await using database = await createDatabase();
  await using one = await openBell(database.url);
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  process.on('warning', onWarning);
  {
    using paused = await pauseBackends(database.url, 'annals-bell');
    expect(paused.pids).toHaveLength(1);
    for (let ring = 0; ring < 10; ring += 1) {
      one.ringEverywhere();
      await delay(10);
    }
    const heard = one.heard;
    await until(
      () => one.heard,
      (now) => now > heard,
    );
  }
  process.off('warning', onWarning);
  expect(warnings.filter((message) => message.includes('client.query()'))).toEqual([]);
});

test('disposal does not wait for a server that has fallen silent', async () => {
  await using database = await createDatabase();
  const bell = await openBell(database.url);
  using _paused = await pauseBackends(database.url, 'annals-bell');
  const startedAtMs = performance.now();
  await bell[Symbol.asyncDispose]();
  expect(performance.now() - startedAtMs).toBeLessThan(scaled(3_000));
});

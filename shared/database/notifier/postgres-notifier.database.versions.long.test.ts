import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, inject, test } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { createDatabase } from '../../../test/engines/database.ts';
import { pauseBackends } from '../../../test/engines/pause-backends.ts';
import { pgBouncerMissing, startPgBouncer } from '../../../test/engines/pgbouncer.ts';
import { startRelay } from '../../../test/engines/relay.ts';
import { onConnection } from '../../../testing/database/search-everywhere.ts';
import { scaled } from '../../../testing/load.ts';
import { until } from '../../../testing/until.ts';
import { PostgresNotifier } from './postgres-notifier.ts';

/** A notifier notifies itself as soon as it listens. */
const openNotifier = async (url: string): Promise<PostgresNotifier> => {
  const notifier = new PostgresNotifier({ url, channel: 'annals_event_log', clock: REAL_TIME });
  await until(
    () => notifier.notified,
    (notified) => notified === 1,
  );
  return notifier;
};

test('a notification reaches other processes, and its sender only once', async () => {
  await using database = await createDatabase();
  await using one = await openNotifier(database.url);
  await using two = await openNotifier(database.url);
  one.notifyEverywhere();
  await until(
    () => two.notified,
    (notified) => notified === 2,
  );
  // An absence cannot be awaited; a notification would have arrived by now.
  await delay(100);
  expect([one.notified, two.notified]).toEqual([2, 2]);
});

describe.skipIf(pgBouncerMissing)('behind a pooler', () => {
  test('through a pooler nothing is received, and no connection is kept', async () => {
    await using database = await createDatabase();
    await using pgBouncer = await startPgBouncer(inject('postgresUrl'), 'transaction');
    await using relay = await startRelay(pgBouncer.through(database.url));
    await using notifier = new PostgresNotifier({
      url: relay.url,
      channel: 'annals_event_log',
      clock: REAL_TIME,
    });
    await until(relay.asked, (asked) => asked.includes('pg_backend_pid'));
    const clients = (): Promise<number> =>
      onConnection(pgBouncer.through(new URL('/pgbouncer', database.url).href), async (admin) => {
        const { rows } = await admin.query<{ application_name: string }>('show clients');
        return rows.filter(({ application_name: name }) => name === 'annals-bell').length;
      });
    await until(clients, (count) => count === 0);
    notifier.notifyEverywhere();
    expect(notifier.notified).toBe(1);
    expect(relay.asked()).not.toMatch(/listen|notify/);
  });

  test('a notification arrives on the direct connection', async () => {
    await using database = await createDatabase();
    await using pgBouncer = await startPgBouncer(inject('postgresUrl'), 'transaction');
    const open = async () => {
      const notifier = new PostgresNotifier({
        url: pgBouncer.through(database.url),
        directUrl: database.url,
        channel: 'annals_event_log',
        clock: REAL_TIME,
      });
      await until(
        () => notifier.notified,
        (notified) => notified === 1,
      );
      return notifier;
    };
    await using one = await open();
    await using two = await open();
    one.notifyEverywhere();
    await until(
      () => two.notified,
      (notified) => notified === 2,
    );
  });
});

test('it sends the next notification after the response to the last one, and reconnects if none comes', async () => {
  await using database = await createDatabase();
  await using one = await openNotifier(database.url);
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  process.on('warning', onWarning);
  {
    using paused = await pauseBackends(database.url, 'annals-bell');
    expect(paused.pids).toHaveLength(1);
    for (let count = 0; count < 10; count += 1) {
      one.notifyEverywhere();
      await delay(10);
    }
    const notified = one.notified;
    await until(
      () => one.notified,
      (now) => now > notified,
    );
  }
  process.off('warning', onWarning);
  expect(warnings.filter((message) => message.includes('client.query()'))).toEqual([]);
});

test('disposal does not wait for a silent server', async () => {
  await using database = await createDatabase();
  const notifier = await openNotifier(database.url);
  using _paused = await pauseBackends(database.url, 'annals-bell');
  const startedAtMs = performance.now();
  await notifier[Symbol.asyncDispose]();
  expect(performance.now() - startedAtMs).toBeLessThan(scaled(3_000));
});

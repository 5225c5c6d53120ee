import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { anEvent, aStream } from '../../test/contracts/event-log-engine.ts';
import { cutLog } from '../../test/engines/cut-log.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { until } from '../../testing/until.ts';
import { readCheckpoint } from './checkpoint.ts';
import { startFollower } from './follower.ts';

const openFollowed = async () => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const pool = opening.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 4 }));
  const eventLog = opening.use(await openEventLog({ url: database.url, clock: REAL_TIME }));
  const heard: Position[] = [];
  const act = async (events: readonly { position: Position }[]) =>
    void heard.push(...events.map(({ position }) => position));
  const start = () =>
    startFollower({
      name: 'tried',
      pool,
      eventLog,
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
      clock: REAL_TIME,
      act,
    });
  const append = async (count: number) => {
    for (let n = 0; n < count; n += 1) await eventLog.append(aStream(), NO_STREAM, [anEvent()]);
  };
  const isAt = async (position: number) => {
    await until(
      () => readCheckpoint(pool, 'tried'),
      (checkpoint) => checkpoint?.position === position,
    );
  };
  const resources = opening.move();
  return {
    pool,
    eventLog,
    heard,
    start,
    append,
    isAt,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

test('a checkpoint of an earlier release, without its event, can be read', async () => {
  await using followed = await openFollowed();
  await followed.append(1);
  {
    await using _follower = await followed.start();
    await followed.isAt(1);
  }
  expect(await readCheckpoint(followed.pool, 'tried')).toMatchObject({ event: expect.any(String) });
  await followed.pool.query(
    'alter table public.follower_checkpoint drop column event, drop column event_position',
  );
  expect(await readCheckpoint(followed.pool, 'tried')).toEqual({
    log: followed.eventLog.identity,
    position: 1,
    event: null,
  });
});

test.each([
  ['with other events in their place', 4],
  ['with nothing in their place', 0],
])('a follower does not begin on a log that has lost the event at its checkpoint, %s', async (_, others) => {
  await using followed = await openFollowed();
  await followed.append(3);
  {
    await using _follower = await followed.start();
    await followed.isAt(3);
  }
  await cutLog(followed.pool, 1 as Position);
  await followed.append(others);
  await expect(followed.start()).rejects.toMatchObject({ name: 'StartRefused' });
  expect(followed.heard).toEqual([1, 2, 3]);
});

test('a running follower receives no events of another history, and its checkpoint stays', async () => {
  await using followed = await openFollowed();
  await using _follower = await followed.start();
  await followed.append(3);
  await followed.isAt(3);
  await cutLog(followed.pool, 1 as Position);
  await followed.append(4);
  await expect(
    Array.fromAsync(
      followed.eventLog.follow(3 as Position, AbortSignal.timeout(30_000), await eventOf(followed)),
    ),
  ).rejects.toThrow('went back');
  expect(followed.heard).toEqual([1, 2, 3]);
  expect(await readCheckpoint(followed.pool, 'tried')).toMatchObject({ position: 3 });
});

const eventOf = async ({ pool }: Awaited<ReturnType<typeof openFollowed>>) =>
  (await readCheckpoint(pool, 'tried'))?.event ?? undefined;

test('a checkpoint that an earlier release has moved names no event, and is trusted', async () => {
  await using followed = await openFollowed();
  await followed.append(3);
  {
    await using _follower = await followed.start();
    await followed.isAt(3);
  }
  await followed.append(2);
  await followed.pool.query('update public.follower_checkpoint set position = 4');
  expect(await readCheckpoint(followed.pool, 'tried')).toMatchObject({ position: 4, event: null });
  await using _follower = await followed.start();
  await followed.isAt(5);
  expect(followed.heard).toEqual([1, 2, 3, 5]);
});

import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Position } from '#shared/brands.ts';
import { openPool } from '#shared/database/pool.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { openEventLog } from '#shared/event-log/open.ts';
import { createMetrics } from '#shared/process/metrics.ts';
import { anEvent, aStream } from '../../test/contracts/event-log-engine.ts';
import { cutLog } from '../../test/engines/cut-log.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { until } from '../../testing/until.ts';
import { readCheckpoint } from './checkpoint.ts';
import { startFollower } from './follower.ts';

const openWorld = async () => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const pool = opening.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 4 }));
  const eventLog = opening.use(await openEventLog({ url: database.url }));
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
  await using world = await openWorld();
  await world.append(1);
  {
    await using _follower = await world.start();
    await world.isAt(1);
  }
  expect(await readCheckpoint(world.pool, 'tried')).toMatchObject({ event: expect.any(String) });
  await world.pool.query(
    'alter table public.follower_checkpoint drop column event, drop column event_position',
  );
  expect(await readCheckpoint(world.pool, 'tried')).toEqual({
    log: world.eventLog.identity,
    position: 1,
    event: null,
  });
});

test.each([
  ['with other events in their place', 4],
  ['with nothing in their place', 0],
])('a follower does not begin on a log that has lost the event at its checkpoint, %s', async (_, others) => {
  await using world = await openWorld();
  await world.append(3);
  {
    await using _follower = await world.start();
    await world.isAt(3);
  }
  await cutLog(world.pool, 1 as Position);
  await world.append(others);
  await expect(world.start()).rejects.toMatchObject({ name: 'StartRefused' });
  expect(world.heard).toEqual([1, 2, 3]);
});

test('a running follower receives no events of another history, and its checkpoint stays', async () => {
  await using world = await openWorld();
  await using _follower = await world.start();
  await world.append(3);
  await world.isAt(3);
  await cutLog(world.pool, 1 as Position);
  await world.append(4);
  await expect(
    Array.fromAsync(world.eventLog.follow(3 as Position, AbortSignal.timeout(30_000), await eventOf(world))),
  ).rejects.toThrow('went back');
  expect(world.heard).toEqual([1, 2, 3]);
  expect(await readCheckpoint(world.pool, 'tried')).toMatchObject({ position: 3 });
});

const eventOf = async ({ pool }: Awaited<ReturnType<typeof openWorld>>) =>
  (await readCheckpoint(pool, 'tried'))?.event ?? undefined;

test('a checkpoint that an earlier release has moved names no event, and is trusted', async () => {
  await using world = await openWorld();
  await world.append(3);
  {
    await using _follower = await world.start();
    await world.isAt(3);
  }
  await world.append(2);
  await world.pool.query('update public.follower_checkpoint set position = 4');
  expect(await readCheckpoint(world.pool, 'tried')).toMatchObject({ position: 4, event: null });
  await using _follower = await world.start();
  await world.isAt(5);
  expect(world.heard).toEqual([1, 2, 3, 5]);
});

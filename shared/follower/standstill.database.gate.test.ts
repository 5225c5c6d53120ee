import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { type EventLog, NO_STREAM } from '#shared/event-log/event-log.ts';
import { NotReady } from '#shared/not-ready.ts';
import { anEvent, aStream } from '../../test/contracts/event-log-engine.ts';
import { ageLog } from '../../test/engines/age-log.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { until } from '../../testing/until.ts';
import { migrateFollowers, readCheckpoint } from './checkpoint.ts';
import { type FollowerOptions, startFollower } from './follower.ts';
import { holdFollowers } from './hold-followers.ts';
import { demandMoving, observeFollower } from './observe-follower.ts';

let pool: Pool;
let eventLog: EventLog;
let failing: Error | undefined;
beforeEach(async () => {
  const resources = new AsyncDisposableStack();
  onTestFinished(() => resources.disposeAsync());
  const database = resources.use(await createDatabase());
  pool = resources.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 4 }));
  eventLog = resources.use(await openEventLog({ url: database.url, clock: REAL_TIME }));
  failing = undefined;
});

const start = async (more: Partial<FollowerOptions> = {}) => {
  const metrics = createMetrics();
  const act = async () => {
    if (failing) throw failing;
  };
  const follower = await startFollower({
    name: 'tried',
    pool,
    eventLog,
    log: pino({ level: 'silent' }),
    metrics,
    clock: REAL_TIME,
    act,
    ...more,
  });
  const isMoving = () =>
    demandMoving(metrics, { isRequired: more.isRequired ?? true }).then(
      () => 'moves',
      (error: unknown) => (error instanceof NotReady ? error.message : String(error)),
    );
  return { isMoving, metrics, [Symbol.asyncDispose]: () => follower[Symbol.asyncDispose]() };
};

const append = () => eventLog.append(aStream(), NO_STREAM, [anEvent()]);

const isAt = (position: number) =>
  until(
    () => readCheckpoint(pool, 'tried'),
    (checkpoint) => checkpoint?.position === position,
  );

const minutesPassSinceMove = (minutes: number) =>
  pool.query(`update public.follower_checkpoint set moved_at = moved_at - $1 * interval '1 minute'`, [
    minutes,
  ]);

test('a standstill that delays nobody is shown without failing readiness', async () => {
  await using follower = await start({ isRequired: false });
  await append();
  await isAt(1);
  failing = new Error('away');
  await append();
  await minutesPassSinceMove(3);
  await ageLog(pool, 3);
  expect(await follower.isMoving()).toMatch(/^The follower tried has made no progress for /);
  await expect(demandMoving(follower.metrics, { isRequired: true })).resolves.toBeUndefined();
});

test('a follower that fails for more than a minute over a pending event is reported, with position and reason', async () => {
  await using follower = await start();
  await append();
  await isAt(1);
  failing = Object.assign(new Error('no route to kafka.internal'), { code: 'ECONNREFUSED' });
  await append();
  await ageLog(pool, 3);
  expect(await follower.isMoving()).toBe('moves');
  await minutesPassSinceMove(2);
  const told = await until(follower.isMoving, (said) => said.includes('ECONNREFUSED'));
  expect(told).toMatch(
    /^The follower tried has made no progress for 12\d s at position 1, and the log ends at 2: Error ECONNREFUSED\.$/,
  );
  failing = undefined;
  await isAt(2);
  expect(await follower.isMoving()).toBe('moves');
});

test('the message of PostgreSQL is shown without its values', async () => {
  await using follower = await start({
    write: async (_events, connection) => void (await connection.query(`select 'ada@example.com'::int`)),
  });
  await append();
  await pool.query(
    `insert into public.follower_checkpoint (follower, log, position, epoch, event_position, moved_at, moved_position) values ('tried', $1, 0, 1, 0, now() - interval '1 hour', 0)`,
    [eventLog.identity],
  );
  await ageLog(pool, 3);
  const told = await until(follower.isMoving, (said) => said.includes('PostgreSQL'));
  expect(told).toMatch(
    /at position 0, and the log ends at 1: PostgreSQL says invalid input syntax for type integer: … \(22P02\)\.$/,
  );
});

test('an idle follower, and one that lags but moves, make progress', async () => {
  await using follower = await start();
  await append();
  await isAt(1);
  await minutesPassSinceMove(10);
  expect(await follower.isMoving()).toBe('moves');
  failing = new Error('away');
  await append();
  // The event is a moment old.
  expect(await follower.isMoving()).toBe('moves');
});

test('another process reports it as well, and one that has just begun to watch waits if nobody knows when it moved', async () => {
  failing = new Error('away');
  await using _owner = await start();
  await using other = await start();
  await append();
  await ageLog(pool, 10);
  expect(await other.isMoving()).toBe('moves');
  await pool.query(
    `insert into public.follower_checkpoint (follower, log, position, epoch, event_position, moved_at, moved_position) values ('tried', $1, 0, 1, 0, now() - interval '1 hour', 0)`,
    [eventLog.identity],
  );
  expect(await other.isMoving()).toContain('made no progress');
  // As an earlier release that moves it meanwhile leaves it.
  await pool.query('update public.follower_checkpoint set moved_position = 7');
  expect(await other.isMoving()).toBe('moves');
});

test('all followers of a process are checked with one query', async () => {
  const metrics = createMetrics();
  let heads = 0;
  const counting: EventLog = {
    ...eventLog,
    head: () => {
      heads += 1;
      return eventLog.head();
    },
  };
  await append();
  const names = ['one', 'two', 'three'];
  for (const name of names) observeFollower({ name, pool, eventLog: counting, metrics, clock: REAL_TIME });
  await migrateFollowers(pool);
  for (const name of names)
    await pool.query(
      `insert into public.follower_checkpoint (follower, log, position, epoch, event_position, moved_at, moved_position) values ($2, $1, 0, 1, 0, now() - interval '1 hour', 0)`,
      [eventLog.identity, name],
    );
  await ageLog(pool, 10);
  await expect(demandMoving(metrics, { isRequired: true })).rejects.toThrow(
    /^(The follower (one|two|three) has made no progress for 6\d\d s at .+?\. ?){3}$/,
  );
  expect(heads).toBe(1);
});

test('a follower that is held stands by, and does not count as standing still', async () => {
  await using follower = await start();
  await append();
  await isAt(1);
  {
    await using held = await holdFollowers(pool, ['tried'], { clock: REAL_TIME, excuseEveryMs: 20 });
    await append();
    await minutesPassSinceMove(3);
    await ageLog(pool, 3);
    await until(follower.isMoving, (said) => said === 'moves');
    expect((await readCheckpoint(pool, 'tried'))?.position).toBe(1);
    expect(held.lost.aborted).toBe(false);
  }
  await isAt(2);
});

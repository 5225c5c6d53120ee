// Over 200 lines, because every wait is for the one checkpoint that is set up here.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { migrate } from '#shared/database/migrate.ts';
import { openPool } from '#shared/database/pool.ts';
import { Notifier } from '#shared/notifier.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { pauseBackends } from '../../test/engines/pause-backends.ts';
import { test as base } from '../../test/engines/pool.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { openReadModelNotifier, type ReadModelNotifier } from './read-model.ts';
import { openReadPosition, readReached } from './read-position.ts';

const LOG = '6f9619ff-8b86-4d01-b42d-00c04fc964ff' as LogIdentity;
const OTHER_LOG = '16fd2706-8baf-433b-82eb-8c7fada847da' as LogIdentity;
const LONG_MS = scaled(20_000);

const test = base
  .extend('connectionsMax', { scope: 'file' }, 4)
  .extend('positions', { scope: 'file' }, ({ database, pool }) => {
    const moveTo = async (position: number, log = LOG) => {
      await pool.query(
        `insert into public.follower_checkpoint values ('projector', $1, $2, 1) on conflict (follower) do update set log = $1, position = $2`,
        [log, position],
      );
    };
    const open = ({ waitersMax = 1_000, notifier = new Notifier(REAL_TIME) } = {}) => {
      const own = openPool({ url: database.url, applicationName: 'test-read-position', connectionsMax: 4 });
      let asked = 0;
      own.on('acquire', () => {
        asked += 1;
      });
      const position = openReadPosition({
        pool: own,
        eventLog: { identity: LOG },
        notifier,
        waitersMax,
        clock: REAL_TIME,
      });
      return {
        notifier,
        asked: () => asked,
        reaches: (at: number, timeoutMs = LONG_MS, signal?: AbortSignal) =>
          position.reaches(at as Position, timeoutMs, signal),
        async [Symbol.asyncDispose]() {
          await position[Symbol.asyncDispose]();
          await own[Symbol.asyncDispose]();
        },
      };
    };
    /** A notifier notifies itself as soon as it listens. */
    const openNotifier = async () => {
      const notifier = openReadModelNotifier({ url: database.url, clock: REAL_TIME });
      await until(
        () => notifier.notified,
        (notified) => notified === 1,
      );
      return notifier;
    };
    return { moveTo, open, openNotifier };
  });
test.beforeAll(({ pool }) => migrate(pool, 'follower', new URL('../follower/', import.meta.url)));
test.beforeEach(({ positions }) => positions.moveTo(0));

test('every position up to the checkpoint is reached, whether or not an event has it', async ({
  positions: { moveTo, open },
}) => {
  await using reading = open();
  await moveTo(4_711);
  expect(await Promise.all([1, 4_000, 4_711].map((at) => reading.reaches(at)))).toEqual([true, true, true]);
});

test('a position that was reached once needs no further query', async ({ positions: { moveTo, open } }) => {
  await using reading = open();
  await moveTo(10);
  await reading.reaches(10);
  const asked = reading.asked();
  expect(await reading.reaches(9)).toBe(true);
  expect(reading.asked()).toBe(asked);
});

test('a notification wakes the waiting reader, and a lost one only makes it wait a little longer', async ({
  positions: { moveTo, open },
}) => {
  await using reading = open();
  for (const [at, rings] of [
    [1, true],
    [2, false],
  ] as const) {
    const waiting = reading.reaches(at);
    await moveTo(at);
    if (rings) reading.notifier.notify();
    expect(await waiting).toBe(true);
  }
});

test('two hundred waiting readers share one query at a time, and without any there is none', async ({
  positions: { moveTo, open },
}) => {
  await using reading = open();
  const startedAtMs = performance.now();
  const waiting = Array.from({ length: 200 }, (_, n) => reading.reaches(1 + (n % 10)));
  for (let at = 1; at <= 10; at += 1) {
    await moveTo(at);
    reading.notifier.notify();
  }
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([true]));
  const polls = (performance.now() - startedAtMs) / 200;
  expect(reading.asked()).toBeLessThanOrEqual(1 + 10 + polls);
  const asked = reading.asked();
  reading.notifier.notify();
  // An absence cannot be awaited; a query would have been sent by now.
  await delay(300);
  expect(reading.asked()).toBe(asked);
});

test('a wait ends by timeout or signal, and leaves nothing behind', async ({
  positions: { moveTo, open },
}) => {
  await using reading = open({ waitersMax: 1 });
  expect(await reading.reaches(1, 20)).toBe(false);
  const leaving = new AbortController();
  const waiting = reading.reaches(1, LONG_MS, leaving.signal);
  leaving.abort();
  expect(await waiting).toBe(false);
  expect(await reading.reaches(1, LONG_MS, leaving.signal)).toBe(false);
  const last = reading.reaches(1);
  await moveTo(1);
  expect(await last).toBe(true);
});

test('surplus waiters are refused at once', async ({ positions: { moveTo, open } }) => {
  await using reading = open({ waitersMax: 2 });
  const waiting = [reading.reaches(1), reading.reaches(1)];
  expect(await reading.reaches(1)).toBe(false);
  await moveTo(1);
  expect(await Promise.all(waiting)).toEqual([true, true]);
});

test('the checkpoint of another log reaches nothing', async ({ positions: { moveTo, open } }) => {
  await using reading = open();
  await moveTo(100, OTHER_LOG);
  expect(await reading.reaches(1, 50)).toBe(false);
});

test('disposal ends all waits', async ({ positions: { open } }) => {
  const reading = open();
  const waiting = reading.reaches(1);
  await reading[Symbol.asyncDispose]();
  expect(await waiting).toBe(false);
  expect(await reading.reaches(1)).toBe(false);
});

test('a silent connection times out, and another serves the waiting readers', async ({
  database,
  positions: { moveTo, open },
}) => {
  await using reading = open();
  const patient = reading.reaches(1);
  await until(reading.asked, (asked) => asked > 1);
  using _paused = await pauseBackends(database.url, 'test-read-position');
  const impatient = reading.reaches(1, 50);
  expect(await impatient).toBe(false);
  await moveTo(1);
  expect(await patient).toBe(true);
});

test('in a database without any follower, nothing is reached yet', async () => {
  await using empty = await createDatabase();
  await using own = openPool({ url: empty.url, applicationName: 'test', connectionsMax: 1 });
  expect(await readReached(own, { identity: LOG })).toBeUndefined();
});

test('a notification with a position needs no query', async ({ positions: { open, openNotifier } }) => {
  await using notifier = await openNotifier();
  await using reading = open({ notifier });
  notifier.announce(LOG, 5 as Position);
  expect(await reading.reaches(5)).toBe(true);
  const waiting = reading.reaches(7);
  notifier.announce(LOG, 6 as Position);
  notifier.announce(LOG, 7 as Position);
  expect(await waiting).toBe(true);
  expect(reading.asked()).toBe(0);
});

test.for([
  ['states no position', (notifier: ReadModelNotifier) => notifier.notifyEverywhere()],
  [
    'states that of another log',
    (notifier: ReadModelNotifier) => notifier.announce(OTHER_LOG, 9 as Position),
  ],
  ['is lost', () => {}],
] as const)(
  'if a later notification %s, the database is queried',
  async ([, notify], { positions: { moveTo, open, openNotifier } }) => {
    await using notifier = await openNotifier();
    await using reading = open({ notifier });
    notifier.announce(LOG, 5 as Position);
    const waiting = reading.reaches(9);
    await moveTo(9);
    notify(notifier);
    expect(await waiting).toBe(true);
  },
);

test('another process learns the position', async ({ positions: { openNotifier } }) => {
  await using one = await openNotifier();
  await using two = await openNotifier();
  one.announce(LOG, 5 as Position);
  await until(
    () => two.announcedPosition(LOG),
    (position) => position === 5,
  );
  expect(two.announcedPosition(OTHER_LOG)).toBeUndefined();
});

// Over 200 lines, because every case follows the one log with the listener that is set up here.
import { pino } from 'pino';
import { expect } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { RETRY_MS } from '#shared/database/lease/lease.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { anEvent, aStream } from '../../test/contracts/event-log-engine.ts';
import { test as base } from '../../test/engines/pool.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { until } from '../../testing/until.ts';
import { moveCheckpoint } from './checkpoint.ts';
import { FULL_EVENTS, MOVE_WITHIN_MS, startFollower } from './follower.ts';

const test = base
  .extend('connectionsMax', { scope: 'file' }, 8)
  .extend('listeners', { scope: 'file' }, ({ eventLog, pool }) => {
    /** Writes received events into a table, in the transaction of its checkpoint. */
    const listen = (
      name: string,
      { act = atOnce, beforeWrite = atOnce, clock = REAL_TIME }: Listening = {},
    ) =>
      startFollower({
        name,
        pool,
        eventLog,
        log: pino({ level: 'silent' }),
        clock,
        metrics: createMetrics(),
        act,
        async write(events, connection) {
          await beforeWrite();
          const positions = events.map(({ position }) => position);
          await connection.query(
            'insert into public.heard (follower, position) select $1, unnest($2::bigint[])',
            [name, positions],
          );
        },
      });
    const heardBy = async (name: string): Promise<readonly number[]> => {
      const { rows } = await pool.query<{ position: number }>(
        'select position from public.heard where follower = $1 order by id',
        [name],
      );
      return rows.map(({ position }) => position);
    };
    const append = (count: number) =>
      Promise.all(Array.from({ length: count }, () => eventLog.append(aStream(), NO_STREAM, [anEvent()])));
    const hasHeardAll = async (name: string) => {
      const head = await eventLog.head();
      const heard = await until(
        () => heardBy(name),
        (positions) => positions.length >= head,
      );
      expect(heard).toEqual(upTo(head));
    };
    /** Counts the moves of its checkpoint. */
    const countMoves = async (name: string) => {
      await pool.query(`create table if not exists public.move (follower text, position bigint);
    create or replace function public.record_move() returns trigger language plpgsql as $$ begin
      insert into public.move values (new.follower, new.position); return new; end $$;
    create or replace trigger record_move after insert or update of position on public.follower_checkpoint
      for each row execute function public.record_move()`);
      return async () =>
        (
          await pool.query<{ position: number }>('select position from public.move where follower = $1', [
            name,
          ])
        ).rows;
    };
    return { append, countMoves, hasHeardAll, listen };
  });
test.beforeAll(({ pool }) =>
  pool.query(
    'create table public.heard (follower text, position bigint, id bigint generated always as identity)',
  ),
);

type Wait = () => Promise<void>;
type Listening = { act?: Wait; beforeWrite?: Wait; clock?: Clock };
const atOnce: Wait = async () => {};

const upTo = (position: number) => Array.from({ length: position }, (_, n) => n + 1);

test('receives every event once and in order, over restarts', async ({
  listeners: { append, hasHeardAll, listen },
}) => {
  await append(10);
  {
    await using _first = await listen('restarted');
    await hasHeardAll('restarted');
  }
  await append(10);
  await using _second = await listen('restarted');
  await append(10);
  await hasHeardAll('restarted');
});

test.for(['act', 'beforeWrite'] as const)(
  'events whose processing failed in %s are received again from the checkpoint',
  async (step, { listeners: { append, hasHeardAll, listen } }) => {
    let tries = 0;
    const fail = async () => {
      tries += 1;
      if (tries <= 2) throw new RangeError('not yet');
    };
    const clock = createTestClock();
    await using _follower = await listen(`failing in ${step}`, { [step]: fail, clock });
    await append(5);
    for (let failed = 1; failed <= 2; failed += 1) {
      await until(
        () => tries,
        (tried) => tried === failed,
      );
      await clock.pass(RETRY_MS);
    }
    await hasHeardAll(`failing in ${step}`);
    expect(tries).toBeGreaterThan(2);
  },
);

test.for(['act', 'beforeWrite'] as const)(
  'an owner that was paused in %s and superseded writes nothing',
  async (step, { listeners: { append, hasHeardAll, listen }, pool }) => {
    const name = `overtaken in ${step}`;
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    const { promise: goOn, resolve: letGo } = Promise.withResolvers<void>();
    let isFirst = true;
    const pause = async () => {
      if (!isFirst) return;
      isFirst = false;
      reach();
      await goOn;
    };
    await using slow = await listen(name, { [step]: pause });
    await append(3);
    await reached;
    // As if it had been paused for longer than its lease, and than the timeout of its transaction.
    await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction' and datname = current_database()`,
    );
    await pool.query(`update public.lease set expires_at = '-infinity' where name = $1`, [name]);
    await using _successor = await listen(name);
    await hasHeardAll(name);
    letGo();
    await slow[Symbol.asyncDispose]();
    await append(3);
    await hasHeardAll(name);
  },
);

test('a successor shuts the former owner out before there is anything to write', async ({
  eventLog,
  listeners: { append, hasHeardAll, listen },
  pool,
}) => {
  const name = 'takes over in silence';
  await append(1);
  const epoch = async (table: 'public.lease' | 'public.follower_checkpoint', column: 'name' | 'follower') =>
    (await pool.query<{ epoch: number }>(`select epoch from ${table} where ${column} = $1`, [name])).rows[0]
      ?.epoch ?? 0;
  {
    await using _former = await listen(name);
    await hasHeardAll(name);
  }
  const before = await epoch('public.lease', 'name');
  await using _successor = await listen(name);
  await until(
    () => epoch('public.follower_checkpoint', 'follower'),
    (now) => now > before,
  );
  const move = {
    log: eventLog.identity,
    from: await eventLog.head(),
    to: ((await eventLog.head()) + 1) as Position,
    epoch: before,
  };
  await expect(inTransaction(pool, (connection) => moveCheckpoint(connection, name, move))).rejects.toThrow(
    'has taken over',
  );
});

test('reports its lag, even if it makes no progress', async ({ eventLog, listeners: { append }, pool }) => {
  const metrics = createMetrics();
  const standing = {
    pool,
    eventLog,
    log: pino({ level: 'silent' }),
    clock: REAL_TIME,
    metrics,
    act: () => Promise.reject(new RangeError('damaged')),
  };
  await using _one = await startFollower({ ...standing, name: 'stands' });
  await using _two = await startFollower({ ...standing, name: 'stands-too' });
  await append(1);
  const head = await eventLog.head();
  const shown = await until(
    () => metrics.metrics(),
    (text) => /failures_total\{follower="stands-too"\} [1-9]/.test(text),
  );
  expect(shown).toContain(`annals_follower_behind{follower="stands"} ${head}`);
  expect(shown).toContain(`annals_follower_behind{follower="stands-too"} ${head}`);
  expect(shown).toMatch(/annals_follower_behind_seconds\{follower="stands"\} (?!0\n)\d/);
});

test('events gather once the follower has reached the head, and not while it lags', async ({
  eventLog,
  pool,
}) => {
  const name = 'gathers at the head';
  for (let stream = 0; stream < 6; stream += 1) {
    await eventLog.append(
      aStream(),
      NO_STREAM,
      Array.from({ length: 400 }, () => anEvent()),
    );
  }
  const sizes: number[] = [];
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  await using _follower = await startFollower({
    ...{ name, pool, eventLog, log: pino({ level: 'silent' }), clock: REAL_TIME, metrics: createMetrics() },
    // Longer than the test may take.
    restMs: 600_000,
    async write(events) {
      sizes.push(events.length);
      if (events.length < FULL_EVENTS) reach();
    },
  });
  await reached;
  expect(sizes.slice(0, -1).length).toBeGreaterThan(1);
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThanOrEqual(FULL_EVENTS);
});

test('a checkpoint moves past irrelevant events in larger steps, and reaches the end of the log', async ({
  eventLog,
  listeners: { append, countMoves },
  pool,
}) => {
  const name = 'seldom concerned';
  const moves = await countMoves(name);
  const concerning = new Set<string>();
  const heard: string[] = [];
  await using _follower = await startFollower({
    ...{ name, pool, eventLog, log: pino({ level: 'silent' }), clock: REAL_TIME, metrics: createMetrics() },
    concerns: (events) => events.some(({ id }) => concerning.has(id)),
    async write(events) {
      heard.push(...events.map(({ id }) => id).filter((id) => concerning.has(id)));
    },
  });
  const followed = async () => ((await moves()).at(-1)?.position ?? 0) >= (await eventLog.head());
  const ids: string[] = [];
  const startMs = performance.now();
  for (let round = 0; round < 3; round += 1) {
    for (let n = 0; n < 30; n += 1) await append(1);
    const event = anEvent();
    concerning.add(event.id);
    ids.push(event.id);
    await eventLog.append(aStream(), NO_STREAM, [event]);
    await append(1);
    await until(followed, (isFollowed) => isFollowed);
  }
  expect(heard).toEqual(ids);
  const positions = (await moves()).map(({ position }) => position);
  expect(positions).toEqual(positions.toSorted((one, other) => one - other));
  // Once for each relevant event, and once per interval in between.
  expect(positions.length).toBeLessThanOrEqual(
    ids.length + 1 + (performance.now() - startMs) / MOVE_WITHIN_MS,
  );
});

test('a successor receives irrelevant events again, but none that was written', async ({
  eventLog,
  listeners: { append },
  pool,
}) => {
  const name = 'gathers, and is overtaken';
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const follow = (concerned: (positions: readonly number[]) => void) =>
    startFollower({
      ...{ name, pool, eventLog, log: pino({ level: 'silent' }), clock: REAL_TIME, metrics: createMetrics() },
      concerns(events) {
        concerned(events.map(({ position }) => position));
        return false;
      },
    });
  const [first, second]: [number[], number[]] = [[], []];
  {
    await using _first = await follow((positions) => {
      first.push(...positions);
      if (first.length >= 3) reach();
    });
    await append(3);
    await reached;
  }
  const { rows } = await pool.query<{ position: number }>(
    'select position from public.follower_checkpoint where follower = $1',
    [name],
  );
  await using _second = await follow((positions) => void second.push(...positions));
  await append(1);
  const head = await eventLog.head();
  await until(
    () => second.at(-1),
    (last) => last === head,
  );
  expect(second).toEqual(upTo(head).slice(rows[0]?.position ?? 0));
});

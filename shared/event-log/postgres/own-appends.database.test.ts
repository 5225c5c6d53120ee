import { expect } from 'vitest';
import type { EventId } from '#kernel/base/brands.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { anEvent, aStream } from '../../../test/contracts/event-log-engine.ts';
import { cutLog } from '../../../test/engines/cut-log.ts';
import { test as base } from '../../../test/engines/pool.ts';
import { createTestClock } from '../../../test/engines/test-clock.ts';
import { until } from '../../../testing/until.ts';
import { type EventLog, NO_STREAM, START } from '../event-log.ts';

const LOCK = 'select pg_advisory_xact_lock(7305808869229538)';
const WAIT_MS = 60_000;

const appendTo = async (eventLog: EventLog, count = 1) =>
  eventLog.append(
    aStream(),
    NO_STREAM,
    Array.from({ length: count }, () => anEvent()),
  );

/** Hears the log until it fails. */
const startHearing = (eventLog: EventLog) => {
  const heard: EventId[] = [];
  const stopping = new AbortController();
  const failure = (async () => {
    for await (const page of eventLog.follow(START, stopping.signal)) heard.push(...page.map(({ id }) => id));
    return undefined;
  })().catch((error: unknown) => error);
  return {
    heard,
    failure: async () => {
      const late = setTimeout(() => stopping.abort(), WAIT_MS);
      const found = await failure;
      clearTimeout(late);
      return found;
    },
    [Symbol.dispose]: () => stopping.abort(),
  };
};

const test = base
  .extend('connectionsMax', { scope: 'file' }, 4)
  .extend('own', ({ database }, { onCleanup }) => opened(database.url, onCleanup))
  .extend('other', ({ database }, { onCleanup }) => opened(database.url, onCleanup));
const opened = async (
  url: string,
  onCleanup: (close: () => Promise<void>) => void,
  clock: Clock = REAL_TIME,
): Promise<EventLog> => {
  const eventLog = await openEventLog({ url, clock });
  onCleanup(async () => eventLog[Symbol.asyncDispose]());
  return eventLog;
};

test.for<readonly [string, (logs: { own: EventLog; other: EventLog }) => Promise<unknown>]>([
  ['the process itself', ({ own }) => appendTo(own, 4)],
  ['another process', ({ other }) => appendTo(other, 4)],
  [
    'another process to the same end, and then itself',
    async ({ own, other }) => {
      await appendTo(other, 2);
      await appendTo(own);
    },
  ],
])(
  'a follower notices that the log has lost its end, whoever fills it: %s',
  async ([, fill], { pool, own, other }) => {
    const kept = await appendTo(own);
    using hearing = startHearing(own);
    await appendTo(own, 2);
    await until(
      () => hearing.heard.length,
      (count) => count >= 3,
    );
    await cutLog(pool, kept.position);
    await fill({ own, other });
    expect(await hearing.failure()).toMatchObject({ code: 'log_went_back' });
  },
);

test('appends that waited while the log lost its end are not taken for what follows', async ({
  pool,
  own,
}) => {
  await appendTo(own);
  using hearing = startHearing(own);
  await until(
    () => hearing.heard.length,
    (count) => count >= 1,
  );
  const blocked = () =>
    pool
      .query<{ count: number }>(
        `select count(*)::integer from pg_locks where locktype = 'advisory' and not granted`,
      )
      .then(({ rows }) => rows[0]?.count ?? 0);
  const [first, cutting] = [await pool.connect(), await pool.connect()];
  await first.query(`begin; ${LOCK}`);
  const before = appendTo(own);
  await until(blocked, (count) => count >= 1);
  await cutting.query('begin');
  const locked = cutting.query(LOCK);
  await until(blocked, (count) => count >= 2);
  // These appends go in one batch once the append before is stored, and by then the log has lost that.
  const waiting = [appendTo(own), appendTo(own), appendTo(own)];
  await first.query('commit');
  await before;
  await locked;
  await cutting.query('alter table event_log.event disable trigger append_only');
  await cutting.query('delete from event_log.event where position > 1');
  await cutting.query('alter table event_log.event enable trigger append_only');
  await cutting.query('commit');
  first.release();
  cutting.release();
  await Promise.allSettled(waiting);
  expect(await hearing.failure()).toMatchObject({ code: 'log_went_back' });
});

test('a repeated append, whose first answer was lost, reaches followers without a poll', async ({
  database,
  pool,
  other,
}) => {
  // Its time stands still, so nothing is polled.
  await using own = await openEventLog({ url: database.url, clock: createTestClock() });
  using hearing = startHearing(own);
  await appendTo(other);
  await until(
    () => hearing.heard.length,
    (count) => count >= 1,
  );
  const [stream, event] = [aStream(), anEvent()];
  await pool.query('select from event_log.append($1, $2, $3, $4, $5, $6, $7, $8)', [
    ...[stream, '0', '1', event.id, event.type],
    ...[JSON.stringify(event.data), JSON.stringify(event.metadata), '4'],
  ]);
  await own.append(stream, NO_STREAM, [event]);
  await until(
    () => hearing.heard.at(-1),
    (id) => id === event.id,
  );
});

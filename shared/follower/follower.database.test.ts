import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Connection } from '#shared/database/pool.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { openEventLog } from '#shared/event-log/open.ts';
import { createMetrics } from '#shared/metrics.ts';
import { anEvent, aStream } from '../../test/contracts/event-log-engine.ts';
import { createDatabase, type TestDatabase } from '../../test/engines/database.ts';
import { until } from '../../test/engines/until.ts';
import { startFollower } from './follower.ts';

let database: TestDatabase;
let pool: Pool;
let eventLog: EventLog;
beforeAll(async () => {
  database = await createDatabase();
  pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 8 });
  eventLog = await openEventLog({ url: database.url });
  await pool.query('create table heard (follower text, position bigint)');
});
afterAll(async () => {
  await eventLog?.[Symbol.asyncDispose]();
  await pool?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

/** Writes what it hears into a table, in the transaction of its checkpoint. */
const listen = (name: string, before: (events: readonly RecordedEvent[]) => Promise<void> = async () => {}) =>
  startFollower({
    name,
    pool,
    eventLog,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    async handle(events, connection: Connection) {
      await before(events);
      const positions = events.map(({ position }) => position);
      await connection.query('insert into heard select $1, unnest($2::bigint[])', [name, positions]);
    },
  });

const heardBy = async (name: string): Promise<readonly number[]> => {
  const { rows } = await pool.query<{ position: number }>('select position from heard where follower = $1', [name]);
  return rows.map(({ position }) => position);
};

const append = (count: number) => Promise.all(Array.from({ length: count }, () => eventLog.append(aStream(), NO_STREAM, [anEvent()])));
const upTo = (position: number) => Array.from({ length: position }, (_, n) => n + 1);
const hasHeardAll = async (name: string) => {
  const head = await eventLog.head();
  const heard = await until(
    () => heardBy(name),
    (positions) => positions.length >= head,
  );
  expect(heard).toEqual(upTo(head));
};

test('hears every event once and in order, over restarts', async () => {
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

test('what failed is heard again from where it was left', async () => {
  let failures = 0;
  await using _follower = await listen('failing', async () => {
    failures += 1;
    if (failures <= 2) throw new RangeError('not yet');
  });
  await append(5);
  await hasHeardAll('failing');
  expect(failures).toBeGreaterThan(2);
});

test('an owner who was overtaken while it worked writes nothing', async () => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: goOn, resolve: letGo } = Promise.withResolvers<void>();
  let isFirst = true;
  await using slow = await listen('overtaken', async () => {
    if (!isFirst) return;
    isFirst = false;
    reach();
    await goOn;
  });
  await append(3);
  await reached;
  // As if it had been paused for longer than its lease and its transaction last.
  await pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction' and query like '%follower_checkpoint%'`,
  );
  await pool.query(`update lease set expires_at = '-infinity' where name = 'overtaken'`);
  await using _successor = await listen('overtaken');
  await hasHeardAll('overtaken');
  letGo();
  await slow[Symbol.asyncDispose]();
  await append(3);
  await hasHeardAll('overtaken');
});

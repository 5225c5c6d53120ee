import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { indexEvents, migrateEventIndex } from '#shared/event-index/event-index.ts';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { startFollowing } from '../../test/contracts/event-log-engine.ts';
import { test as base } from '../../test/engines/pool.ts';
import { boards } from '../../test/toy/boards.ts';
import { createMeter } from '../rest/meter.ts';
import { Parameters } from '../rows/statement.ts';
import { findMoved, isAmong } from './moved.ts';

const { card } = boards.kinds;
const MOVED = ['card-7', 'cards-5', 'card-x', 'card-0', 'elsewhere-9', 'card-8'];

const test = base
  .extend('connectionsMax', { scope: 'file' }, 4)
  .extend('recorded', { scope: 'file' }, async ({ eventLog }) => {
    for (const stream of MOVED)
      await eventLog.append(stream as StreamName, NO_STREAM, [
        { id: randomUUID() as EventId, type: 'card.moved', data: {}, metadata: {} },
      ]);
    await using following = startFollowing(eventLog, START);
    return await following.until(({ length }) => length === MOVED.length);
  });

test('only streams of the kind have moved aggregates, in the index and behind it', async ({
  pool,
  eventLog,
  recorded,
}) => {
  await migrateEventIndex(pool);
  const connection = await pool.connect();
  await indexEvents(connection, recorded);
  connection.release();
  const moved = await findMoved(
    { pool, eventLog, meter: createMeter(async () => {}) },
    card as NonNullable<typeof card>,
    START,
  );
  if (moved === undefined) throw new Error('Cards move.');
  // The index has no checkpoint here, so all of its events are behind it too.
  expect(moved.behind).toEqual([7, 8]);
  const parameters = new Parameters();
  const isMoved = isAmong({ ...moved, behind: [] }, { name: 'card' }, parameters);
  const { rows } = await pool.query<{ id: number }>(
    `select t.id::int from generate_series(1, 10) as t (id) where ${isMoved} order by t.id`,
    parameters.values,
  );
  expect(rows.map(({ id }) => id)).toEqual([7, 8]);
});

import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { EventId, Position } from '#kernel/base/brands.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { blockOf, hashesOf } from '../../proof/chain/block-of.ts';
import { EMPTY_CHAIN, headAt, insertBlock, readBlocks, readChainEnd } from '../../proof/stored/blocks.ts';
import { extendByAll, GENESIS } from '../../proof/stored/chain.ts';
import { aStream, startFollowing } from '../../test/contracts/event-log-engine.ts';
import { LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { test as base } from '../../test/engines/pool.ts';
import { migrateAudit } from '../audit/migrate.ts';
import { indexEvents, migrateEventIndex } from './event-index.ts';
import { takeFormerMoments } from './moments.ts';
import { positionAt } from './position-at.ts';

const second = (n: number): Date => new Date(Date.UTC(2030, 0, 1, 0, 0, n));

/** The second of each event’s change, one of them missing. They are appended in this order. */
const SECONDS = [10, 20, undefined, 30, 25, 40, 40, 50, 60];
/** The numbers of events in the batches of the index and the chain, which have not reached the rest yet. */
const BLOCKS = [2, 3, 1];

const TIMES = [0, 9, 10, 15, 20, 24, 25, 29, 30, 35, 40, 45, 50, 59, 60, 99];

const onLog = base
  .extend('connectionsMax', { scope: 'file' }, 4)
  .extend('recorded', { scope: 'file' }, async ({ eventLog }) => {
    for (const n of SECONDS) {
      const metadata = n === undefined ? {} : { at: second(n).toISOString() };
      await eventLog.append(aStream(), NO_STREAM, [
        { id: randomUUID() as EventId, type: 'thing.noted', data: { n: n ?? 0 }, metadata },
      ]);
    }
    await using following = startFollowing(eventLog, START);
    return await following.until(({ length }) => length === SECONDS.length);
  })
  .extend('build', { scope: 'file' }, ({ pool, recorded }) => async () => {
    const connection = await pool.connect();
    let end = EMPTY_CHAIN;
    for (const size of BLOCKS) {
      const events = recorded.slice(end.count, end.count + size);
      await indexEvents(connection, events);
      await insertBlock(connection, blockOf(end, events, hashesOf(events)));
      end = await readChainEnd(connection);
    }
    connection.release();
  })
  .extend('expected', { scope: 'file' }, ({ recorded }) => (n: number): Position => {
    const index = SECONDS.findIndex((each) => each !== undefined && each > n);
    return (index === -1 ? recorded.at(-1) : recorded[index - 1])?.position ?? START;
  });

const tests = LOG_ENGINES.map(
  ([name, startLog]) => [name, onLog.extend('startLog', { scope: 'file' }, () => startLog)] as const,
);

describe.each(tests)('the position at a time, on %s', (_name, test) => {
  test.beforeAll(async ({ pool }) => {
    await migrateAudit(pool);
    await migrateEventIndex(pool);
  });

  test('is that before the first later change, if there is no index yet', async ({
    eventLog,
    expected,
    pool,
  }) => {
    for (const n of TIMES)
      expect(await positionAt({ pool, eventLog }, second(n)), `second ${n}`).toBe(expected(n));
  });

  test('and the same, if the index has most of them', async ({ build, eventLog, expected, pool }) => {
    await build();
    for (const n of TIMES)
      expect(await positionAt({ pool, eventLog }, second(n)), `second ${n}`).toBe(expected(n));
  });

  test('and if another release has indexed some of them', async ({ eventLog, expected, pool, recorded }) => {
    await pool.query('truncate event_index.event, event_index.moment');
    const [first, others, last] = [recorded.slice(0, 2), recorded.slice(2, 6), recorded.slice(6)];
    const index = (events: typeof recorded) =>
      inTransaction(pool, (connection) => indexEvents(connection, events));
    await index(first);
    await index(others);
    await pool.query('delete from event_index.moment where position > $1', [first.at(-1)?.position]);
    await index(last);
    for (const n of TIMES)
      expect(await positionAt({ pool, eventLog }, second(n)), `second ${n}`).toBe(expected(n));
  });

  test('and if a former release has indexed them, and had built the chain', async ({
    eventLog,
    expected,
    pool,
  }) => {
    await pool.query('truncate event_index.moment');
    await takeFormerMoments(pool);
    for (const n of TIMES)
      expect(await positionAt({ pool, eventLog }, second(n)), `second ${n}`).toBe(expected(n));
    const { rowCount } = await pool.query('select from event_index.moment');
    expect(rowCount).toBe(BLOCKS.length);
  });

  test('the head is known after each event, even within a block, and not beyond the chain', async ({
    pool,
    recorded,
  }) => {
    const hashes = hashesOf(recorded);
    for (let count = 0; count <= 6; count += 1)
      expect(await headAt(pool, count), `after ${count}`).toEqual(
        extendByAll(GENESIS, hashes.subarray(0, count * 32)),
      );
    expect(await headAt(pool, 7)).toBeUndefined();
    expect(
      (await Array.fromAsync(readBlocks(pool, { after: 2, upTo: 6 }))).flat().map(({ count }) => count),
    ).toEqual([5, 6]);
  });

  test('nobody changes the tables of the proof by mistake', async ({ pool }) => {
    await expect(pool.query('update audit.block set head = head')).rejects.toThrow('append-only');
    await expect(pool.query('delete from audit.block')).rejects.toThrow('append-only');
  });
});

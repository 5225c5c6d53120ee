import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventId, Position } from '#shared/brands.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { type EventLog, NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { openEventLog } from '#shared/event-log/open.ts';
import { blockOf, hashesOf } from '../../audit/chain/block-of.ts';
import { aStream, startFollowing } from '../../test/contracts/event-log-engine.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { EMPTY_CHAIN, headAt, insertBlock, readBlocks, readChainEnd } from './blocks.ts';
import { extendByAll, GENESIS } from './chain.ts';
import { migrateAudit } from './migrate.ts';
import { positionAt } from './position-at.ts';

const second = (n: number): Date => new Date(Date.UTC(2030, 0, 1, 0, 0, n));

/** The second of each event’s change, one of them missing. They are appended in this order. */
const SECONDS = [10, 20, undefined, 30, 25, 40, 40, 50, 60];
/** The numbers of events in the blocks of the chain, which has not reached the rest yet. */
const BLOCKS = [2, 3, 1];

describe.each(LOG_ENGINES)('the position at a time, on %s', (_name, startLog) => {
  const resources = new AsyncDisposableStack();
  let pool: Pool;
  let eventLog: EventLog;
  let recorded: readonly RecordedEvent[];

  beforeAll(async () => {
    const database = resources.use(await createDatabase());
    const log = resources.use(await startLog());
    pool = resources.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 4 }));
    eventLog = resources.use(await openEventLog({ url: log.url ?? database.url }));
    await migrateAudit(pool);
    for (const n of SECONDS) {
      const metadata = n === undefined ? {} : { at: second(n).toISOString() };
      await eventLog.append(aStream(), NO_STREAM, [
        { id: randomUUID() as EventId, type: 'thing.noted', data: { n: n ?? 0 }, metadata },
      ]);
    }
    await using following = startFollowing(eventLog, START);
    recorded = await following.until(({ length }) => length === SECONDS.length);
  });
  afterAll(() => resources.disposeAsync());

  const build = async () => {
    const connection = await pool.connect();
    let end = EMPTY_CHAIN;
    for (const size of BLOCKS) {
      const events = recorded.slice(end.count, end.count + size);
      await insertBlock(connection, blockOf(end, events, hashesOf(events)));
      end = await readChainEnd(connection);
    }
    connection.release();
  };

  const expected = (n: number): Position => {
    const index = SECONDS.findIndex((each) => each !== undefined && each > n);
    return (index === -1 ? recorded.at(-1) : recorded[index - 1])?.position ?? START;
  };
  const TIMES = [0, 9, 10, 15, 20, 24, 25, 29, 30, 35, 40, 45, 50, 59, 60, 99];

  test('is that before the first later change, if there is no chain yet', async () => {
    for (const n of TIMES)
      expect(await positionAt({ pool, eventLog }, second(n)), `second ${n}`).toBe(expected(n));
  });

  test('and the same, if the chain has most of them', async () => {
    await build();
    for (const n of TIMES)
      expect(await positionAt({ pool, eventLog }, second(n)), `second ${n}`).toBe(expected(n));
  });

  test('the head is known after each event, even within a block, and not beyond the chain', async () => {
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

  test('nobody changes the tables of the proof by mistake', async () => {
    await expect(pool.query('update audit.block set head = head')).rejects.toThrow('append-only');
    await expect(pool.query('delete from audit.block')).rejects.toThrow('append-only');
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EMPTY_CHAIN, insertBlock, readChainEnd } from '#shared/audit/blocks.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import { positionAt } from '#shared/audit/position-at.ts';
import type { EventId, StreamName } from '#shared/brands.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { openEventLog } from '#shared/event-log/open.ts';
import { blockOf, hashesOf } from '../../audit/chain/block-of.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { createPositionFinder, type FindPosition } from './find-position.ts';

const second = (n: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();
const STREAM = 'article-1' as StreamName;
const COUNT = 3_000;
const LATE = second(COUNT + 1);

const resources = new AsyncDisposableStack();
let pool: Pool;
let eventLog: EventLog;
let findPosition: FindPosition;
let charged = 0;
const charge = async (units: number) => {
  charged += units;
};
beforeAll(async () => {
  const database = resources.use(await createDatabase());
  pool = resources.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 2 }));
  eventLog = resources.use(await openEventLog({ url: database.url }));
  await migrateAudit(pool);
  for (let from = 1; from <= COUNT; from += 1_000) {
    const events = Array.from({ length: 1_000 }, (_, index) => ({
      ...{
        id: randomUUID() as EventId,
        type: 'thing.noted',
        data: {},
        metadata: { at: second(from + index) },
      },
    }));
    await eventLog.append(STREAM, 'any', events);
  }
  findPosition = createPositionFinder({
    pool,
    eventLog,
    readPosition: { reaches: async () => true },
    visibleWithinMs: 0,
  });
});
afterAll(() => resources.disposeAsync());

test('finding a version reads one event only', async () => {
  charged = 0;
  expect(await findPosition('v7', charge, STREAM)).toBe(7);
  expect(charged).toBe(0);
});

test('while the chain lags far behind, no time travel reads the log instead, and reading is charged', async () => {
  charged = 0;
  expect(await findPosition(second(7), charge)).toBe(7);
  expect(charged).toBe(2);
  charged = 0;
  const refusal = { code: 'unavailable', headers: { 'Retry-After': '5' } };
  await expect(findPosition(LATE, charge)).rejects.toMatchObject(refusal);
  expect(charged).toBe(4);
  expect(await positionAt({ pool, eventLog }, new Date(LATE))).toBe(COUNT);
});

test('once the chain covers most of the log, every time is found', async () => {
  const connection = await pool.connect();
  for await (const events of eventLog.follow(START, new AbortController().signal)) {
    const { count } = await readChainEnd(connection);
    await insertBlock(
      connection,
      blockOf(count === 0 ? EMPTY_CHAIN : await readChainEnd(connection), events, hashesOf(events)),
    );
    if (count + events.length >= COUNT - 1_000) break;
  }
  connection.release();
  for (const n of [7, 1_500, COUNT, COUNT + 1])
    expect(await findPosition(second(n), charge), `second ${n}`).toBe(Math.min(n, COUNT));
});

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { indexEvents, migrateEventIndex } from '#shared/event-index/event-index.ts';
import { positionAt } from '#shared/event-index/position-at.ts';
import { START } from '#shared/event-log/event-log.ts';
import { test as base } from '../../test/engines/pool.ts';
import { createPositionFinder } from './find-position.ts';

const second = (n: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();
const STREAM = 'article-1' as StreamName;
const COUNT = 3_000;
const LATE = second(COUNT + 1);

const noted = (at: string) => ({
  ...{ id: randomUUID() as EventId, type: 'thing.noted', data: {}, metadata: { at } },
});

let charged = 0;
const charge = async (units: number) => {
  charged += units;
};
const test = base.extend('findPosition', { scope: 'file' }, async ({ eventLog, pool }) => {
  await migrateEventIndex(pool);
  for (let from = 1; from <= COUNT; from += 1_000) {
    const events = Array.from({ length: 1_000 }, (_, index) => noted(second(from + index)));
    await eventLog.append(STREAM, 'any', events);
  }
  const readPosition = { reaches: async () => true };
  return createPositionFinder({ pool, eventLog, readPosition, visibleWithinMs: 0, clock: REAL_TIME });
});

test('finding a version reads one event only', async ({ findPosition }) => {
  charged = 0;
  expect(await findPosition('v7', charge, STREAM)).toBe(7);
  expect(charged).toBe(0);
});

test('while the index lags far behind, no time travel reads the log instead, and reading is charged', async ({
  eventLog,
  findPosition,
  pool,
}) => {
  charged = 0;
  expect(await findPosition(second(7), charge)).toBe(7);
  expect(charged).toBe(2);
  charged = 0;
  const refusal = { code: 'unavailable', headers: { 'Retry-After': '5' } };
  await expect(findPosition(LATE, charge)).rejects.toMatchObject(refusal);
  expect(charged).toBe(4);
  expect(await positionAt({ pool, eventLog }, new Date(LATE))).toBe(COUNT);
});

test('once the index covers most of the log, every time is found', async ({
  eventLog,
  findPosition,
  pool,
}) => {
  const connection = await pool.connect();
  let count = 0;
  for await (const events of eventLog.follow(START, new AbortController().signal)) {
    await indexEvents(connection, events);
    count += events.length;
    if (count >= COUNT - 1_000) break;
  }
  connection.release();
  for (const n of [7, 1_500, COUNT, COUNT + 1])
    expect(await findPosition(second(n), charge), `second ${n}`).toBe(Math.min(n, COUNT));
});

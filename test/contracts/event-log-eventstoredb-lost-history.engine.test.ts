import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { expect, test } from 'vitest';
import type { EventId, Position } from '#kernel/base/brands.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { demandNewest } from '#shared/event-log/demand-newest.ts';
import { type EventLog, NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { guardHistory } from '#shared/event-log/guard-history.ts';
import { noteFileIn } from '#shared/event-log/newest-note.ts';
import { positionOfOwnCursor } from '#shared/event-log/own-cursor.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { anEvent, aStream, startFollowing } from './event-log-engine.ts';

/** A restarted node shows events without a majority, until it has found the leader and truncated them. */
const openNode = async () => {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryDataDir());
  const journal = join(folder.path, 'journal');
  let node: EventStoreStandIn = await startEventStoreStandIn({ journal });
  const { port, address } = node;
  opening.defer(() => node[Symbol.asyncDispose]());
  const logged: string[] = [];
  const error = (_: unknown, text?: string) => logged.push(text ?? '');
  const eventLog = opening.use(
    guardHistory(await openEventLog({ url: address, clock: REAL_TIME }), {
      log: { error } as never,
      clock: REAL_TIME,
    }),
  );
  const resources = opening.move();
  return {
    eventLog,
    logged,
    address,
    searched: () => node.searched(),
    file: noteFileIn(folder.path, eventLog.identity),
    /** Without the last appends, but with others. */
    async cut(
      appends: number,
      instead: (eventLog: EventLog, address: string) => Promise<unknown>,
    ): Promise<void> {
      await node[Symbol.asyncDispose]();
      const lines = (await readFile(journal, 'utf8')).trimEnd().split('\n');
      await writeFile(journal, `${lines.slice(0, -appends).join('\n')}\n`);
      {
        await using elsewhere = await startEventStoreStandIn({ journal });
        await using leader = await openEventLog({ url: elsewhere.address, clock: REAL_TIME });
        await instead(leader, elsewhere.address);
      }
      node = await startEventStoreStandIn({ journal, port });
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const append = async (eventLog: EventLog, text: string): Promise<Position> =>
  (await eventLog.append(aStream(), NO_STREAM, [anEvent({ text })])).position;

test('a process that remembers nothing does not start on a truncated log without the noted event, and refuses its cursor', async () => {
  await using node = await openNode();
  await append(node.eventLog, 'kept');
  const position = await append(node.eventLog, 'lost');
  const id = (await node.eventLog.eventAt(position)) as EventId;
  const log = node.eventLog.identity;
  const at = new Date().toISOString();
  await node.file.write({ v: 1, log, position, id, server: null, isFinal: false, at });
  const demand = async () => {
    await using eventLog = await openEventLog({ url: node.address, clock: REAL_TIME });
    await demandNewest({ eventLog, file: node.file, clock: REAL_TIME });
    return await positionOfOwnCursor(eventLog, formatCursor(log, position, id));
  };
  expect(await demand()).toBe(position);
  await node.cut(1, async (leader) => {
    for (let end = 0; end <= position; ) end = await append(leader, 'instead');
  });
  await expect(demand()).rejects.toMatchObject({ name: 'StartRefused' });
  await using eventLog = await openEventLog({ url: node.address, clock: REAL_TIME });
  await expect(positionOfOwnCursor(eventLog, formatCursor(log, position, id))).rejects.toMatchObject({
    code: 'cursor_of_lost_history',
  });
});

test('an append to a log that was truncated and has grown beyond the known events is not acknowledged', async () => {
  await using node = await openNode();
  await append(node.eventLog, 'kept');
  const last = await append(node.eventLog, 'lost');
  await node.cut(1, async (leader) => {
    for (let position = 0; position <= last; ) position = await append(leader, 'instead');
  });
  await expect(append(node.eventLog, 'more')).rejects.toMatchObject({ code: 'log_went_back' });
  expect(node.logged).toHaveLength(1);
});

/** Writes more records of others than the server searches at a time. Returns the position of the first. */
const theirs = async (address: string): Promise<Position> => {
  const client = EventStoreDBClient.connectionString(address);
  const event = () => jsonEvent({ type: 'theirs', data: {} });
  const first = await client.appendToStream('order-1', event());
  await client.appendToStream('order-1', Array.from({ length: 600 }, event));
  await client.dispose();
  return Number(first.position?.commit) as Position;
};

test.each([
  ['after an event', ['kept']],
  ['before the first event', []],
])('a follower misses nothing if only records of others are lost, %s', async (_, kept) => {
  await using node = await openNode();
  for (const text of kept) await append(node.eventLog, text);
  await using follower = startFollowing(node.eventLog, START);
  await follower.until((seen) => seen.length === kept.length);
  const first = await theirs(node.address);
  await until(node.searched, (from) => from > first);
  await node.cut(2, (leader) => append(leader, 'instead'));
  await follower.until((seen) => seen.length === kept.length + 1);
  await append(node.eventLog, 'more');
  await follower.until((seen) => seen.length === kept.length + 2);
  expect(node.logged).toEqual([]);
});

test('a follower that has seen no event ends if the whole log is lost', async () => {
  await using node = await openNode();
  const follower = startFollowing(node.eventLog, START);
  const first = await theirs(node.address);
  await until(node.searched, (from) => from > first);
  await node.cut(3, async (leader, address) => {
    await append(leader, 'of another');
    await theirs(address);
  });
  await until(
    () => node.logged.length,
    (logged) => logged === 1,
    30_000,
  );
  expect(follower.seen).toEqual([]);
  await expect(follower[Symbol.asyncDispose]()).rejects.toMatchObject({ code: 'log_went_back' });
});

test.each([
  [
    'where no record begins at its position any more',
    async (leader: EventLog) => void (await append(leader, 'x'.repeat(5_000))),
  ],
  [
    'where another record begins at its position',
    async (leader: EventLog) => void (await append(leader, 'lost').then(() => append(leader, 'more'))),
  ],
  ['where the log ends before its position', async () => {}],
])('a follower of truncated events ends, %s', async (_, instead) => {
  await using node = await openNode();
  const kept = await append(node.eventLog, 'kept');
  const follower = startFollowing(node.eventLog, START);
  await append(node.eventLog, 'lost');
  const last = await append(node.eventLog, 'lost');
  await follower.until((seen) => seen.length === 3);
  await node.cut(2, instead);
  await until(
    () => node.logged.length,
    (logged) => logged === 1,
    30_000,
  );
  expect(follower.seen.map(({ position }) => position).at(-1)).toBe(last);
  expect(follower.seen).toHaveLength(3);
  await expect(append(node.eventLog, 'more')).rejects.toMatchObject({ code: 'log_went_back' });
  await follower[Symbol.asyncDispose]().catch(() => {});
  expect(await node.eventLog.eventAt(kept)).toBeDefined();
});

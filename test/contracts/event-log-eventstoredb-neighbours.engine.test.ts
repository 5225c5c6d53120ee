import { randomUUID } from 'node:crypto';
import { BACKWARDS, END, type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { describe, expect } from 'vitest';
import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import type { Position } from '#kernel/base/brands.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { until } from '../../testing/until.ts';
import type { EventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { freshTest as test } from '../engines/eventstoredb-fixture.ts';
import { anEvent, aStream, readAll, startFollowing } from './event-log-engine.ts';

/** As in production, but with a shorter wait for a lost answer. */
const TIMING = { retryBudgetMs: 10_000, answerWithinMs: 1_000, silenceMaxMs: 1_000 };

/** The slowest search takes a second for each. */
const SEARCHED_MB = 40;

const BULK_DEADLINE_MS = 120_000;

const theirs = (client: EventStoreDBClient, count: number, stream = `article-${randomUUID()}`) =>
  client.appendToStream(
    stream,
    Array.from({ length: count }, () => jsonEvent({ type: 'theirs', data: [1] })),
    { deadline: BULK_DEADLINE_MS },
  );

const SILENCE_MS = 200;

const openHasty = ({ address }: { readonly address: string }) =>
  openEventStoreEventLog({
    ...{ clock: REAL_TIME, url: address },
    timing: { ...TIMING, silenceMaxMs: SILENCE_MS },
  });

const writeMegabytes = async (client: EventStoreDBClient): Promise<void> => {
  const megabyte = 'x'.repeat(1_000_000);
  for (let written = 0; written < SEARCHED_MB; written += 1)
    await client.appendToStream(`theirs-${randomUUID()}`, jsonEvent({ type: 'theirs', data: megabyte }));
};

const untilSubscribed = (standIn: EventStoreStandIn) =>
  until(
    () => standIn.liveSubscriptions(),
    (count) => count === 1,
  );

const untilSearched = (standIn: EventStoreStandIn, after: number) =>
  until(
    () => standIn.searched(),
    (from) => from > after,
  );

type Shared = { readonly client: EventStoreDBClient; readonly standIn: EventStoreStandIn };

/** Others write what the server then searches, and it is scavenged. */
const searchAndScavenge = async ({ client, standIn }: Shared, after: number): Promise<void> => {
  const gone = `gone-${randomUUID()}`;
  await theirs(client, 600, gone);
  await untilSearched(standIn, after);
  await client.tombstoneStream(gone);
  standIn.scavenge();
};

describe('on a server with others', () => {
  test('records of others are no events, also in streams named like ours', async ({ client, log }) => {
    const stream = aStream();
    await client.appendToStream(stream, jsonEvent({ type: 'theirs', data: [1] }));
    expect(await readAll(log, stream)).toEqual([]);
    expect(await log.head()).toBe(START);
    const { position } = await log.append(stream, NO_STREAM, [anEvent({ n: 1 })]);
    await theirs(client, 600);
    expect(await log.head()).toBe(position);
    await using follower = startFollowing(log, START);
    expect((await follower.until(({ length }) => length > 0)).map((event) => event.stream)).toEqual([stream]);
    const last = (
      await Array.fromAsync(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }))
    )[0];
    expect(await log.eventAt(Number(last?.event?.position?.commit) as Position)).toBeUndefined();
  });

  test('a follower does not search records of others again, and survives that they are scavenged', async ({
    client,
    log,
    standIn,
  }) => {
    const { position } = await log.append(aStream(), NO_STREAM, [anEvent()]);
    await using follower = startFollowing(log, position);
    await untilSubscribed(standIn);
    await searchAndScavenge({ client, standIn }, position);
    const id = anEvent();
    await log.append(aStream(), NO_STREAM, [id]);
    await follower.until((seen) => seen.length === 1);
    standIn.endSubscriptions('too-slow');
    await log.append(aStream(), NO_STREAM, [anEvent()]);
    expect((await follower.until((seen) => seen.length === 2))[0]?.id).toBe(id.id);
  });

  test('another follower does not have the records of others searched again', async ({
    client,
    log,
    standIn,
  }) => {
    const { position } = await log.append(aStream(), NO_STREAM, [anEvent()]);
    await using follower = startFollowing(log, position);
    const reached = async (after: number): Promise<number> => {
      await theirs(client, 600);
      return untilSearched(standIn, after);
    };
    await untilSubscribed(standIn);
    let end = await reached(position);
    for (let times = 0; times < 3; times += 1) {
      await using other = startFollowing(log, START);
      await other.until(({ length }) => length === 1);
      end = await reached(end);
    }
    const event = anEvent();
    await log.append(aStream(), NO_STREAM, [event]);
    expect((await follower.until(({ length }) => length === 1)).map(({ id }) => id)).toEqual([event.id]);
  });

  test('a page that stays unanswered is not waited for as long as the slowest search', async ({
    client,
    standIn,
  }) => {
    await using hasty = await openHasty(standIn);
    const { position } = await hasty.append(aStream(), NO_STREAM, [anEvent()]);
    await writeMegabytes(client);
    standIn.faults.reads({ kind: 'unanswered' }, { stream: '$all' });
    await using follower = startFollowing(hasty, START);
    const [first] = await follower.until(({ length }) => length === 1, 10_000);
    expect(first?.position).toBe(position);
    expect(standIn.faults.pending()).toBe(0);
  });

  test('a page may be searched for as long after its first record', async ({ client, standIn }) => {
    await using hasty = await openHasty(standIn);
    await writeMegabytes(client);
    const { position } = await hasty.append(aStream(), NO_STREAM, [anEvent()]);
    // Each page begins with the identity of the log.
    const searching = { kind: 'searching', after: 1, delayMs: 4 * SILENCE_MS } as const;
    standIn.faults.reads(searching, { stream: '$all', times: 1_000 });
    await using follower = startFollowing(hasty, START);
    const [first] = await follower.until(({ length }) => length === 1, 10_000);
    expect(first?.position).toBe(position);
    standIn.faults.clear();
  });

  test('a follower of a log without events subscribes', async ({ log, standIn }) => {
    await using follower = startFollowing(log, START);
    await untilSubscribed(standIn);
    const event = anEvent();
    await log.append(aStream(), NO_STREAM, [event]);
    expect((await follower.until(({ length }) => length === 1))[0]?.id).toBe(event.id);
    expect(standIn.liveSubscriptions()).toBe(1);
  });

  test('a follower of a log without events does not search records of others again', async ({
    client,
    log,
    standIn,
  }) => {
    await using follower = startFollowing(log, START);
    await untilSubscribed(standIn);
    const begin = standIn.searched();
    await searchAndScavenge({ client, standIn }, begin);
    const event = anEvent();
    await log.append(aStream(), NO_STREAM, [event]);
    expect((await follower.until(({ length }) => length === 1)).map(({ id }) => id)).toEqual([event.id]);
    standIn.endSubscriptions('too-slow');
    await log.append(aStream(), NO_STREAM, [anEvent()]);
    expect((await follower.until(({ length }) => length === 2))[0]?.id).toBe(event.id);
  });

  test('several logs live beside each other', async ({ log, standIn }) => {
    await using other = await openEventStoreEventLog({
      clock: REAL_TIME,
      url: standIn.address,
      prefix: 'annals2',
    });
    expect(other.identity).not.toBe(log.identity);
    const stream = aStream();
    for (const one of [log, other]) await one.append(stream, NO_STREAM, [anEvent()]);
    for (const one of [log, other]) {
      await using follower = startFollowing(one, START);
      await follower.until(({ length }) => length === 1);
      expect(await readAll(one, stream)).toHaveLength(1);
    }
  });
});

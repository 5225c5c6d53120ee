import { randomUUID } from 'node:crypto';
import { binaryEvent, type EventData, jsonEvent } from '@eventstore/db-client';
import { expect } from 'vitest';
import type { StreamName } from '#kernel/base/brands.ts';
import { NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { foreignForm } from '#shared/event-log/foreign-record.ts';
import { hashOf } from '../../proof/stored/canonical.ts';
import { until } from '../../testing/until.ts';
import { ours } from '../engines/eventstoredb/ours.ts';
import { freshTest as test } from '../engines/eventstoredb-fixture.ts';
import { anEvent, aStream } from './event-log-engine.ts';

/** Records of other applications, by the form of data and metadata. */
const FOREIGN: Readonly<Record<string, EventData>> = {
  'no metadata': jsonEvent({ type: 'order.placed', data: { total: 7 } }),
  'data that is null': jsonEvent({ type: 'order.placed', data: null as never, metadata: { by: 'shop' } }),
  'data that is an array': jsonEvent({ type: 'order.placed', data: [1, 2] as never, metadata: {} }),
  'data that is a string': jsonEvent({ type: 'order.placed', data: 'seven' as never, metadata: {} }),
  'metadata that is an array': jsonEvent({ type: 'order.placed', data: {}, metadata: [1] as never }),
  'binary data': binaryEvent({
    type: 'order.placed',
    data: Buffer.from([0, 1, 255]),
    metadata: Buffer.of(0),
  }),
  'no data at all': binaryEvent({ type: 'order.placed', data: new Uint8Array() }),
  'a link to another record': binaryEvent({ type: '$>', data: Buffer.from('0@order-1') }),
  'a type of the server': jsonEvent({ type: '$placed', data: { total: 7 } }),
  'a type with a zero byte': jsonEvent({ type: 'order\u0000placed', data: {}, metadata: {} }),
};

test.for(Object.entries(FOREIGN))(
  'a record with %s is an event that says so',
  async ([, record], { client, log }) => {
    const stream = aStream();
    const own = [anEvent(), anEvent()] as const;
    await log.append(stream, NO_STREAM, [own[0]]);
    await client.appendToStream(ours(stream), { ...record, id: randomUUID() } as EventData);
    const { position } = await log.append(aStream(), NO_STREAM, [own[1]]);
    const [first, foreign, last] = await followed(log.follow(START, AbortSignal.timeout(10_000)), 3);
    expect([first?.id, last?.id]).toEqual([own[0].id, own[1].id]);
    expect(foreign).toMatchObject({
      stream,
      version: 2,
      data: expect.any(Object),
      metadata: expect.any(Object),
    });
    expect(foreign?.type).not.toContain('\u0000');
    expect((await Array.fromAsync(log.read(stream))).flat()).toEqual([first, foreign]);
    expect(await log.head()).toBe(position);
  },
);

test('the proof covers the content of a foreign record, without storing it', async ({ client, log }) => {
  const streams = [aStream(), aStream()] as const;
  for (const [index, stream] of streams.entries())
    await client.appendToStream(
      ours(stream),
      jsonEvent({ type: 'order.placed', data: { secret: `value ${index}` } }),
    );
  const [one, other] = await followed(log.follow(START, AbortSignal.timeout(10_000)), 2);
  if (!one || !other) throw new Error('both events are followed');
  expect(JSON.stringify([one, other])).not.toContain('value');
  const as = (event: RecordedEvent) => hashOf({ ...event, stream: streams[0], id: one.id });
  expect(as(one)).not.toEqual(as(other));
});

test('a follower at the end of the log hears a foreign record, and goes on', async ({ client, log }) => {
  const seen: RecordedEvent[] = [];
  const ending = new AbortController();
  const following = (async () => {
    for await (const page of log.follow(START, ending.signal)) seen.push(...page);
  })();
  await log.append(aStream(), NO_STREAM, [anEvent()]);
  await until(
    () => seen.length,
    (count) => count === 1,
  );
  await client.appendToStream(ours('order-1'), jsonEvent({ type: 'order.placed', data: { total: 7 } }));
  await log.append(aStream(), NO_STREAM, [anEvent()]);
  await until(
    () => seen.length,
    (count) => count === 3,
  );
  ending.abort();
  await following;
});

const inTransaction = (count: number) =>
  Array.from({ length: count }, () => ({
    id: randomUUID(),
    type: 'article.edited',
    contentType: 'application/json',
    data: Buffer.from('{"total":7}'),
    metadata: new Uint8Array(),
  }));

test.for([
  ['a few', 2],
  ['many', 900],
] as const)(
  'followers pass over %s records of an explicit transaction',
  async ([, count], { log, standIn }) => {
    const own = [anEvent(), anEvent(), anEvent()] as const;
    const stream = aStream();
    const first = await log.append(stream, NO_STREAM, [own[0]]);
    standIn.appendInTransaction(ours(stream), inTransaction(count));
    expect(await log.head()).toBe(first.position);
    const ids: string[] = [];
    const ending = new AbortController();
    const following = (async () => {
      for await (const page of log.follow(START, ending.signal)) ids.push(...page.map(({ id }) => id));
    })();
    await log.append(aStream(), NO_STREAM, [own[1]]);
    await until(
      () => ids.length,
      (seen) => seen === 2,
    );
    standIn.appendInTransaction(ours(aStream()), inTransaction(count));
    const last = await log.append(aStream(), NO_STREAM, [own[2]]);
    await until(
      () => ids.length,
      (seen) => seen === 3,
    );
    ending.abort();
    await following;
    expect(ids).toEqual(own.map(({ id }) => id));
    expect(await log.head()).toBe(last.position);
    const behind = await followed(log.follow(first.position, AbortSignal.timeout(10_000), own[0].id), 2);
    expect(behind.map(({ id }) => id)).toEqual([own[1].id, own[2].id]);
    const read = (await Array.fromAsync(log.read(stream))).flat();
    expect(read).toHaveLength(1 + count);
    expect(foreignForm(read[1]?.metadata ?? {})).toContain('not JSON objects of Annals');
  },
);

test('names that no index can hold are cut', async ({ client, log }) => {
  const stream = `order-${'x'.repeat(3_000)}`;
  await client.appendToStream(ours(stream), jsonEvent({ type: `placed${'y'.repeat(3_000)}`, data: {} }));
  await client.appendToStream(ours(`${stream}2`), jsonEvent({ type: 'placed', data: {} }));
  const [one, other] = await followed(log.follow(START, AbortSignal.timeout(10_000)), 2);
  expect(one?.stream.length).toBeLessThan(1_000);
  expect(one?.type.length).toBeLessThan(1_000);
  expect(other?.stream).not.toBe(one?.stream);
  expect(other?.stream.slice(0, 100)).toBe(stream.slice(0, 100) as StreamName);
});

const followed = async (
  pages: AsyncIterable<readonly RecordedEvent[]>,
  count: number,
): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  for await (const page of pages) {
    events.push(...page);
    if (events.length >= count) break;
  }
  return events;
};

import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { expect } from 'vitest';
import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import { StreamCut } from '#shared/event-log/errors.ts';
import { type EventLog, NO_STREAM } from '#shared/event-log/event-log.ts';
import { ours } from '../engines/eventstoredb/ours.ts';
import { freshTest as test } from '../engines/eventstoredb-fixture.ts';
import { anEvent, aStream, readAll, version } from './event-log-engine.ts';

/** Appends that EventStoreDB dates by the second are too old at once. */
const ALL_TOO_OLD = -60;

type Cut = (client: EventStoreDBClient, stream: string) => Promise<unknown>;

/** How an operator cuts a stream of four events, and the versions that it lacks then. */
const CUTS: readonly (readonly [how: string, cut: Cut, lacks: string])[] = [
  ['a maximum count', (client, stream) => client.setStreamMetadata(stream, { $maxCount: 1 }), 'versions 1–3'],
  ['a mark', (client, stream) => client.setStreamMetadata(stream, { $tb: 1 }), 'version 1'],
  ['a mark at its end', (client, stream) => client.setStreamMetadata(stream, { $tb: 4 }), 'all its versions'],
  [
    'a maximum age',
    (client, stream) => client.setStreamMetadata(stream, { $maxAge: ALL_TOO_OLD }),
    'all its versions',
  ],
  ['a deletion', (client, stream) => client.deleteStream(stream), 'all its versions'],
  ['a tombstone', (client, stream) => client.tombstoneStream(stream), 'all its versions'],
];

test.for(CUTS)('a stream that was cut by %s cannot be read', async ([, cut, lacks], { client, log }) => {
  const stream = await written(log);
  const other = await written(log);
  await cut(client, ours(stream));
  const failure = await readAll(log, stream).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StreamCut);
  expect(String(failure)).toContain(`stream_cut: stream ${stream} lacks ${lacks}:`);
  expect(await readAll(log, other)).toHaveLength(4);
  expect(await log.cutStreams?.()).toMatchObject({ streams: [stream] });
});

test('a stream that was cut can be read behind the cut', async ({ client, log }) => {
  const stream = await written(log);
  await client.setStreamMetadata(ours(stream), { $maxCount: 2 });
  expect(await readAll(log, stream, version(3))).toHaveLength(2);
});

test('a look for cut streams goes on where the last one ended, among records of others', async ({
  client,
  log,
  standIn,
}) => {
  const [first, second] = [await written(log), await written(log)];
  const lookAfter = (after?: Position) =>
    log.cutStreams?.(after) ?? Promise.reject(new Error('not EventStoreDB'));
  await client.setStreamMetadata(ours(first), { $maxCount: 1 });
  await theirs(client, 'theirs');
  const once = await lookAfter();
  expect(once.streams).toEqual([first]);
  expect(once.upTo).toBeGreaterThan(await log.head());
  await client.setStreamMetadata(ours(second), { $maxCount: 1 });
  const again = await lookAfter(once.upTo);
  expect(again.streams).toEqual([second]);
  expect(again.upTo).toBeGreaterThan(once.upTo);

  // The record at that position belongs to others, who may remove it.
  await theirs(client, 'theirs as well');
  const { upTo } = await lookAfter(again.upTo);
  await client.tombstoneStream('theirs as well');
  standIn.scavenge();
  expect((await lookAfter(upTo)).streams).toEqual([first, second]);
});

test('a deleted stream takes no appends', async ({ client, log }) => {
  const stream = await written(log);
  await client.tombstoneStream(ours(stream));
  await expect(log.append(stream, 4 as Version, [anEvent()])).rejects.toThrow(StreamCut);
});

test('a stream that was never written is empty, whatever its limits', async ({ client, log }) => {
  const stream = aStream();
  expect(await readAll(log, stream)).toEqual([]);
  await client.setStreamMetadata(ours(stream), { $maxCount: 1, $maxAge: 60 });
  expect(await readAll(log, stream)).toEqual([]);
  await log.append(stream, NO_STREAM, [anEvent()]);
  expect(await readAll(log, stream)).toHaveLength(1);
});

const theirs = async (client: EventStoreDBClient, stream: string): Promise<void> => {
  await client.appendToStream(
    stream,
    Array.from({ length: 2_500 }, () => jsonEvent({ type: 'theirs', data: [1] })),
  );
};

const written = async (log: EventLog): Promise<StreamName> => {
  const stream = aStream();
  await log.append(
    stream,
    NO_STREAM,
    Array.from({ length: 4 }, () => anEvent()),
  );
  return stream;
};

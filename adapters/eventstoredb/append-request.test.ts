import { randomUUID } from 'node:crypto';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { expect, test } from 'vitest';
import type { EventId, Version } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { checkEvent } from '#shared/event-log/check-append.ts';
import { type ExpectedVersion, NO_STREAM } from '#shared/event-log/event-log.ts';
import { encodeAppend } from './append-request.ts';

const anEvent = (data: JsonObject = {}, metadata: JsonObject = {}) =>
  checkEvent({ id: randomUUID() as EventId, type: 'thing.noted', data, metadata });
const deadlineMs = Date.parse('2026-02-03T04:05:06.789Z');
const encode = (
  events: readonly ReturnType<typeof anEvent>[],
  expected: ExpectedVersion = NO_STREAM,
  stream = 'thing-1',
) => {
  const id = randomUUID();
  const messages = encodeAppend({ id, stream, expected, events, deadlineMs });
  return { id, messages, decoded: messages.map((bytes) => streams.BatchAppendReq.deserializeBinary(bytes)) };
};
const bytesOf = (text: string | Uint8Array) => Buffer.from(text).toString('utf8');

test('the classes of the client can read the encoded request', () => {
  const stream = `thing-${'a'.repeat(200)}`;
  const events = [
    anEvent({ text: 'Ünïcödé €😀' }, { text: 'ß' }),
    anEvent({ text: 'x'.repeat(70_000) }, { text: 'é'.repeat(20_000) }),
  ];
  const { id, decoded } = encode(events, NO_STREAM, stream);
  const [request] = decoded;
  expect(decoded).toHaveLength(1);
  expect(request?.getCorrelationId()?.getString()).toBe(id);
  expect(request?.getIsFinal()).toBe(true);
  const options = request?.getOptions();
  expect(bytesOf(options?.getStreamIdentifier()?.getStreamName_asU8() ?? '')).toBe(stream);
  expect(options?.getDeadline()?.toDate().getTime()).toBe(deadlineMs);
  const messages = request?.getProposedMessagesList().map((message) => ({
    id: message.getId()?.getString(),
    properties: Object.fromEntries(message.getMetadataMap().toArray()),
    data: bytesOf(message.getData_asU8()),
    metadata: bytesOf(message.getCustomMetadata_asU8()),
  }));
  const properties = { type: 'thing.noted', 'content-type': 'application/json' };
  expect(messages).toEqual(
    events.map((event) => ({ id: event.id, properties, data: event.data, metadata: event.metadata })),
  );
});

test.each([
  ['any', { isAny: true, isNone: false, revision: '0' }],
  [NO_STREAM, { isAny: false, isNone: true, revision: '0' }],
  [1 as Version, { isAny: false, isNone: false, revision: '0' }],
  [300 as Version, { isAny: false, isNone: false, revision: '299' }],
  [
    Number.MAX_SAFE_INTEGER as Version,
    { isAny: false, isNone: false, revision: `${Number.MAX_SAFE_INTEGER - 1}` },
  ],
] as const)('version %s is expected as EventStoreDB says it', (expected, said) => {
  const options = encode([anEvent()], expected).decoded[0]?.getOptions();
  expect({
    isAny: options?.hasAny(),
    isNone: options?.hasNoStream(),
    revision: options?.getStreamPosition(),
  }).toEqual(said);
});

test('a large append is sent in messages that a server accepts, the last of them final', () => {
  const events = Array.from({ length: 200 }, () => anEvent({}, { text: 'x'.repeat(60_000) }));
  const { id, messages, decoded } = encode(events);
  expect(messages.length).toBeGreaterThan(3);
  expect(Math.max(...messages.map(({ length }) => length))).toBeLessThan(4 * 1_048_576);
  expect(decoded.map((part) => part.getIsFinal())).toEqual(
    messages.map((_, index) => index === messages.length - 1),
  );
  expect(decoded.map((part) => part.hasOptions())).toEqual(messages.map((_, index) => index === 0));
  expect(new Set(decoded.map((part) => part.getCorrelationId()?.getString()))).toEqual(new Set([id]));
  const ids = decoded.flatMap((part) =>
    part.getProposedMessagesList().map((message) => message.getId()?.getString()),
  );
  expect(ids).toEqual(events.map((event) => event.id));
});

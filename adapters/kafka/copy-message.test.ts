import { type CloudEvent, Kafka } from 'cloudevents';
import { expect, test } from 'vitest';
import type { EventId, LogIdentity, Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { copyOf } from './copy-message.ts';
import { toMessage } from './message.ts';

const identity = '6f9619ff-8b86-4011-b42d-00c04fc964ff' as LogIdentity;
const change: Change = {
  position: 12 as Position,
  id: '00000000-0000-4000-8000-000000000001' as EventId,
  stream: 'article-8' as StreamName,
  version: 2 as Version,
  type: 'article.published',
  schemaVersion: 1,
  at: '2026-01-02T03:04:05.678Z',
  reason: 'Geprüft – 100 %',
  origin: { actor: 'user:7', client: 'shop', request: 'r-1', correlation: 'r-1', causation: null },
  data: { articleId: 8, authorId: 7 },
  right: 'article.read',
  resource: { ownerId: 7 as UserId, articleStatus: 'published' },
  isParked: false,
};
const toPublish = { change, previous: 11 as Position, correlation: 'r-1' };
const writing = { eventLog: { identity }, publicUrl: 'https://annals.example' };
const own = toMessage(writing.eventLog, toPublish);

const EVENT = {
  specversion: '1.0',
  id: change.id,
  source: 'https://annals.example',
  type: 'article.published',
  subject: 'article-8',
  time: change.at,
  datacontenttype: 'application/json',
  dataschema: 'https://annals.example/schemas/events/article.published/1',
  reason: 'Geprüft – 100 %',
  actor: 'user:7',
  cursor: '6f9619ff-c-00000001',
  partitionkey: 'article-8',
  sequence: '0000000000000012',
};

test('by default, the copy has the messages of the topic', () => {
  expect(copyOf('annals', own, toPublish, writing)).toBe(own);
});

test.each([
  ['cloudevents', { streamversion: 2 }],
  ['cloudevents_binary', { streamversion: '2' }],
] as const)('the format %s is the event that the SDK reads', (format, typed) => {
  const { key, value, headers } = copyOf(format, own, toPublish, writing);
  expect(key).toBe('article-8');
  // As consumers get it: kafkajs sends headers in UTF-8.
  const message = { key, value: String(value), headers, body: String(value) };
  const event = Kafka.toEvent(message as never) as CloudEvent;
  expect(event.validate()).toBe(true);
  expect(event.toJSON()).toEqual({ ...EVENT, ...typed, data: change.data });
});

test('the visibility stays out, and so does what is unknown', () => {
  const { value } = copyOf('cloudevents', own, toPublish, writing);
  for (const name of ['right', 'resource', 'parked', 'traceparent', 'importedat'])
    expect(JSON.parse(String(value))).not.toHaveProperty(name);
  const parked = { ...toPublish, change: { ...change, isParked: true } };
  const binary = copyOf('cloudevents_binary', own, parked, writing);
  expect(binary.headers).toMatchObject({ ce_parked: 'true' });
});

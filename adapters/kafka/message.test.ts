import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { EventId, LogIdentity, Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { fromMessage, toMessage } from './message.ts';

const identity = '6f9619ff-8b86-4011-b42d-00c04fc964ff' as LogIdentity;

const change: Change = {
  position: 12 as Position,
  id: '00000000-0000-4000-8000-000000000001' as EventId,
  stream: 'article-8' as StreamName,
  version: 2 as Version,
  type: 'article.published',
  schemaVersion: 1,
  at: '2026-01-02T03:04:05.678Z',
  origin: { actor: 'user:7', client: 'shop', request: 'r-1', correlation: 'r-1', causation: null },
  data: { articleId: 8, authorId: 7 },
  right: 'article.read',
  resource: { ownerId: 7 as UserId, articleStatus: 'published' },
  isParked: false,
};

/** The documented form in the topic. */
const VALUE =
  '{"position":12,"id":"00000000-0000-4000-8000-000000000001","stream":"article-8","version":2,"type":"article.published","schemaVersion":1,' +
  '"at":"2026-01-02T03:04:05.678Z","origin":{"actor":"user:7","client":"shop","request":"r-1","correlation":"r-1","causation":null},' +
  '"data":{"articleId":8,"authorId":7},"right":"article.read","resource":{"ownerId":7,"articleStatus":"published"},"isParked":false}';

const reading = { identity, catalogue: catalogueOf(publishing) };
const message = toMessage({ identity }, { change, previous: 11 as Position, correlation: 'r-1' });

test('a change keeps its published form, and can be read again', () => {
  expect(String(message.value)).toBe(VALUE);
  expect(fromMessage(reading, message)).toEqual({ change, previous: 11, bytes: VALUE.length });
});

test('the cursor names the event, unless the release before may read it', () => {
  expect(message.headers?.cursor).toBe('6f9619ff-c-00000001');
  const given = { change, previous: 11 as Position, correlation: 'r-1' };
  const former = toMessage({ identity, namesEvents: () => false }, given);
  expect(former.headers?.cursor).toBe('6f9619ff-c');
  expect(fromMessage(reading, former)).toEqual(fromMessage(reading, message));
});

test('the author is unknown in messages of the first release', () => {
  const value = Buffer.from(VALUE.replace(/"origin":\{.*?\},/, ''));
  expect(fromMessage(reading, { ...message, value }).change).toEqual({ ...change, origin: null });
});

test('a message of the first release is upcast to the present version of its type', () => {
  const disabled = { webhookId: 6, ownerId: 7, reason: 'gone', missed: { since: 9, at: change.at } };
  const first = { ...change, type: 'webhook.disabled', data: disabled };
  const read = fromMessage(
    reading,
    toMessage({ identity }, { change: first, previous: 11 as Position, correlation: 'r-1' }),
  );
  const data = { ...disabled, missed: { since: { log: null, position: 9 }, at: change.at } };
  expect(read.change).toEqual({ ...first, schemaVersion: 2, data });
});

import { extendSchema, parse } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../../test/engines/schema.ts';
import { FILE_DETAILS } from '../schema/sdl-lines.ts';
import { sameInKernel } from './same-in-kernel.ts';

const extended = extendSchema(
  schema,
  parse(`
    type Region { name: String! city: City }
    type City { mayor: User }
    extend type WebhookHealth { region: Region }
    extend type User { secret: String }`),
);

it('knows new fields of the kernel’s types, and the types that they lead to', () => {
  const { Webhook, WebhookHealth, Region, City } = sameInKernel(extended, new Set(['User']));
  expect(Webhook).toMatchObject({ health: 'all', owner: 'all' });
  expect(WebhookHealth).toMatchObject({ backlog: 'all', region: 'all' });
  expect([Region, City]).toEqual([{ name: 'all', city: 'all' }, { mayor: 'all' }]);
});

it('ends at the types of the domain', () => {
  expect(sameInKernel(extended, new Set(['User'])).User).toBeUndefined();
});

/**
 * A new field or type here is the same for all viewers who share a rendering. If it is not, it must not be
 * reached; if it is, it is added.
 */
const DECIDED = {
  Node: 'id',
  SignedAddress: 'href expiresAt',
  FileDetails: 'type bytes sha256 name',
  WebhookConnection: 'edges nodes pageInfo totalCount',
  WebhookEdge: 'cursor node',
  Webhook: `id owner url description eventTypes articleId authorId payload format ordered ratePerSecond concurrency
    headerNames scopes enabled disabledReason missedSince secretsEndAt createdAt updatedAt version withheld health
    delivery deliveriesConnection replay replaysConnection asOf history proof`,
  WebhookWithheld: 'eventType scope reason',
  WebhookHealth: `lastSuccessAt lastFailure failingSince failuresInRow pausedUntil nextAttemptAt attemptsLastDay
    failuresLastDay successRate backlog`,
  WebhookFailure: 'at status reason',
  WebhookBacklog: 'due oldestAt dead',
  Delivery: `id webhook type subject cursor state attempts nextAt lastStatus lastError createdAt deliveredAt
    attemptsConnection`,
  DeliveryAttemptConnection: 'edges nodes pageInfo',
  DeliveryAttemptEdge: 'cursor node',
  DeliveryAttempt: 'number at durationMs status error requestHeaders answer',
  HttpHeader: 'name value',
  DeliveryAnswer: 'headers text base64 truncated',
  PageInfo: 'hasNextPage hasPreviousPage startCursor endCursor',
  DeliveryConnection: 'edges nodes pageInfo',
  DeliveryEdge: 'cursor node',
  Replay: 'id from since to at planned state requestedAt finishedAt',
  ReplayConnection: 'edges nodes pageInfo',
  ReplayEdge: 'cursor node',
  HistoryConnection: 'edges nodes pageInfo',
  HistoryEntryEdge: 'cursor node',
  Signature: 'by meaning at means',
  HistoryEntry: `version id type at importedAt reason signature cursor actor client request correlation causation changes erased
    unreadable proof`,
  FieldChange: 'field from to diff truncated',
};

it('shares no field of which nobody has decided that all viewers see the same', () => {
  const withFiles = extendSchema(schema, parse(FILE_DETAILS));
  const found = sameInKernel(withFiles, new Set(['User', 'Article', 'Comment']));
  expect(Object.fromEntries(Object.entries(found).map(([type, of]) => [type, Object.keys(of)]))).toEqual(
    Object.fromEntries(Object.entries(DECIDED).map(([type, fields]) => [type, fields.split(/\s+/)])),
  );
});

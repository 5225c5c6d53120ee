/**
 * For which viewers of one role, with the same scopes and the right to the parent, a field has the same
 * value: `all`; all but its owner (`all_but_its_own`); or all, but it leads to data of people whom the change
 * does not concern.
 */
export type SameFor = 'all' | 'all_but_its_own' | 'all_and_leads_to_others';

export const IN_CONNECTION = { edges: 'all', nodes: 'all', pageInfo: 'all', totalCount: 'all' } as const;
export const IN_EDGE = { cursor: 'all', node: 'all' } as const;
export const IN_PAYLOAD = {
  cursor: 'all',
  type: 'all',
  at: 'all',
  importedAt: 'all',
  subjectId: 'all',
} as const;

/** Only its owner and administrators see anything of a webhook. */
export const OF_WEBHOOKS = Object.fromEntries(
  Object.entries({
    Webhook: `id owner url description eventTypes payload ordered ratePerSecond concurrency headerNames scopes
      enabled disabledReason missedSince secretsEndAt createdAt updatedAt version withheld health delivery deliveriesConnection replay replaysConnection asOf history proof`,
    WebhookWithheld: 'eventType scope reason',
    WebhookHealth:
      'lastSuccessAt lastFailure failingSince failuresInRow pausedUntil nextAttemptAt attemptsLastDay failuresLastDay successRate backlog',
    WebhookFailure: 'at status reason',
    WebhookBacklog: 'due oldestAt dead',
    Delivery:
      'id webhook type subject cursor state attempts nextAt lastStatus lastError createdAt deliveredAt attemptsConnection',
    DeliveryAttempt: 'number at durationMs status error requestHeaders answer',
    DeliveryAnswer: 'headers text base64 truncated',
    HttpHeader: 'name value',
    Replay: 'id from since to at planned state requestedAt finishedAt',
    WebhookConnection: 'edges nodes pageInfo totalCount',
    WebhookEdge: 'cursor node',
    DeliveryConnection: 'edges nodes pageInfo',
    DeliveryEdge: 'cursor node',
    DeliveryAttemptConnection: 'edges nodes pageInfo',
    DeliveryAttemptEdge: 'cursor node',
    ReplayConnection: 'edges nodes pageInfo',
    ReplayEdge: 'cursor node',
  }).map(([type, fields]) => [
    type,
    Object.fromEntries(fields.split(/\s+/).map((field) => [field, 'all' as const])),
  ]),
);

/** Subscriptions refuse histories. */
const OF_HISTORIES = Object.fromEntries(
  Object.entries({
    HistoryConnection: 'edges nodes pageInfo',
    HistoryEntryEdge: 'cursor node',
    HistoryEntry:
      'version id type at importedAt cursor actor client request correlation causation changes erased unreadable proof',
    FieldChange: 'field from to diff truncated',
  }).map(([type, fields]) => [
    type,
    Object.fromEntries(fields.split(' ').map((field) => [field, 'all' as const])),
  ]),
);

export type Fields = Readonly<Record<string, SameFor | undefined>>;
export type SameInTypes = Readonly<Record<string, Fields>>;

/** A field missing here counts as different for every viewer. A test compares this with the schema. */
export const OF_KERNEL: SameInTypes = {
  Node: { id: 'all' },
  SignedAddress: { href: 'all', expiresAt: 'all' },
  FileDetails: { type: 'all', bytes: 'all', sha256: 'all', name: 'all' },
  PageInfo: { hasNextPage: 'all', hasPreviousPage: 'all', startCursor: 'all', endCursor: 'all' },
  ...OF_WEBHOOKS,
  ...OF_HISTORIES,
};

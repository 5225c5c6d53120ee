import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { LogIdentity } from '#kernel/base/brands.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import { type Delivered, deliveryFaults } from './delivery-faults.ts';
import type { Arrival } from './receivers.ts';
import { happenedIn } from './visible-events.ts';

const IDENTITY = '6f9619ff' as LogIdentity;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const ID = 6_001;
const AT = new Date('2026-11-21T12:00:00Z');

const eventOf = (position: number, type: string, data: Record<string, unknown>): DecodedEvent =>
  ({
    id: `event-${position}`,
    type,
    position,
    stream: 'article-8001',
    recordedAt: AT,
    data,
  }) as unknown as DecodedEvent;

const article = { articleId: 8_001, authorId: 7_001 };
const log = [
  eventOf(1, 'article.drafted', { ...article, title: 'One' }),
  eventOf(2, 'article.published', article),
  eventOf(3, 'article.edited', { ...article, title: 'Two' }),
  eventOf(4, 'article.edited', { ...article, title: 'Three' }),
];

const arrivalOf = (
  event: DecodedEvent,
  change: { data?: unknown; secret?: string; given?: number | undefined } = {},
): Arrival => {
  const { id, type, position, stream: subject } = event;
  const { data = event.data, secret = SECRET, given = 204 } = change;
  const body = JSON.stringify({ id, type, cursor: formatCursor(IDENTITY, position, id), subject, data });
  const seconds = AT.getTime() / 1_000;
  const signature = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${id}.${seconds}.${body}`)
    .digest('base64');
  const headers = { 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` };
  return { id, body, headers, path: '/hook', atMs: AT.getTime(), given };
};

const row = (event: DecodedEvent, change: Partial<Delivered['ledger'][number]> = {}) => ({
  ...{ id: event.id, state: 'delivered', attempts: 1, statuses: [204] },
  ...change,
});

const [first, second, third, fourth] = log as [DecodedEvent, DecodedEvent, DecodedEvent, DecodedEvent];
const good = (events: readonly DecodedEvent[] = log): Delivered => ({
  webhookId: ID,
  expected: happenedIn(events, IDENTITY),
  events: new Map(events.map((event) => [event.id, event])),
  identity: IDENTITY,
  arrivals: events.map((event) => arrivalOf(event)),
  ledger: events.map((event) => row(event)),
  secrets: [SECRET],
  payload: 'full',
  isOrdered: true,
});

test.each<[string, Partial<Delivered>, readonly RegExp[]]>([
  ['a complete delivery in order', {}, []],
  [
    'a callback sent twice because its first answer was lost',
    { arrivals: [first, first, second, third, fourth].map((each) => arrivalOf(each)) },
    [],
  ],
  [
    'a missing callback',
    { arrivals: [first, second, fourth].map((each) => arrivalOf(each)) },
    [/^lost: event-3/, /^the ledger says delivered of event-3/],
  ],
  [
    'two callbacks in the wrong order',
    { arrivals: [first, third, second, fourth].map((each) => arrivalOf(each)) },
    [/^out of order: event-2/],
  ],
  [
    'two callbacks in the wrong order, which is allowed',
    { arrivals: [first, third, second, fourth].map((each) => arrivalOf(each)), isOrdered: false },
    [],
  ],
  [
    'a callback of another subscription',
    { expected: good().expected.slice(1) },
    [/^not for them: event-1/, /^in the ledger, not for them: event-1/],
  ],
  [
    'a second attempt with another body',
    { arrivals: [...good().arrivals, arrivalOf(first, { data: article })] },
    [/^several bodies: /],
  ],
  [
    'data that differs from the event',
    { arrivals: [arrivalOf(first, { data: { ...article, title: 'Zero' } }), ...good().arrivals.slice(1)] },
    [/^another content: /],
  ],
  [
    'full data in a thin payload',
    { payload: 'thin' },
    [/^another content: /, /^another content: /, /^another content: /],
  ],
  [
    'a signature with another secret',
    { secrets: [`whsec_${randomBytes(32).toString('base64')}`] },
    log.map(() => /^not signed: /),
  ],
  [
    'a callback without a row in the ledger',
    { ledger: good().ledger.slice(1) },
    [/^in the ledger, lost: event-1/],
  ],
  [
    'a delivery that is still due',
    { ledger: [row(first, { state: 'due', attempts: 0, statuses: [] }), ...good().ledger.slice(1)] },
    [/^the ledger says due/],
  ],
  [
    'a recorded answer that was never sent',
    { ledger: [row(first, { attempts: 2, statuses: [500, 204] }), ...good().ledger.slice(1)] },
    [/^the ledger says delivered/],
  ],
  [
    'an attempt that was not recorded',
    { ledger: [row(first, { attempts: 2 }), ...good().ledger.slice(1)] },
    [/^the ledger says delivered/],
  ],
  [
    'a dead letter that was accepted',
    { ledger: [row(first, { state: 'dead' }), ...good().ledger.slice(1)] },
    [/^the ledger says dead/],
  ],
  [
    'a withheld delivery of a readable event',
    { ledger: [row(first, { state: 'withheld' }), ...good().ledger.slice(1)] },
    [/^the ledger says withheld/],
  ],
])('%s', (_name, change, faults) => {
  const found = deliveryFaults({ ...good(), ...change });
  expect(found).toEqual(faults.map((fault) => expect.stringMatching(fault)));
});

test('an event sent while the webhook was disabled is reported, unless a later request caused it', () => {
  const own = (position: number, type: string, laterMs = 0) => ({
    ...eventOf(position, type, { webhookId: ID, ownerId: 7_001 }),
    recordedAt: new Date(AT.getTime() + laterMs),
  });
  const events = [
    first,
    own(2, 'webhook.disabled'),
    third,
    own(5, 'webhook.enabled', 1),
    own(6, 'webhook.replay_requested', 2),
  ];
  const delivered = good([first, third]);
  const given: Delivered = {
    ...delivered,
    events: new Map(events.map((event) => [event.id, event as DecodedEvent])),
  };
  expect(deliveryFaults(given)).toEqual(['sent while disabled: event-3']);
  const late = given.arrivals.map((arrival) => ({ ...arrival, atMs: arrival.atMs + 2 }));
  expect(deliveryFaults({ ...given, arrivals: late })).toEqual([]);
});

import * as z from 'zod';
import { Delivery } from './deliveries.ts';
import { Event } from './events.ts';
import { Links } from './fields.ts';
import type { RestOperation } from './operation.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().positive();

const SignedBy = z.strictObject({
  count: count.meta({ description: 'How many events that head covers.' }),
  at: z.iso.datetime().meta({ description: 'When it was signed.' }),
  key: z.string().meta({ description: 'The `kid` of the key that has signed it.' }),
  outside: z.boolean().meta({
    description: 'Whether it is kept outside the database, where nobody who edits the log can change it.',
  }),
});

const ChainPlace = z.strictObject({
  hash: hash.meta({
    description: 'SHA-256 of the canonical form of the event, with personal fields still sealed.',
  }),
  count: count.nullable().meta({
    description:
      'The how many-th event of the log it is; null as long as the chain does not reach it, or if the chain has another event there.',
  }),
  head: hash.nullable().meta({ description: 'The head of the chain of hashes after it.' }),
  signed: SignedBy.nullable().meta({
    description: 'The first signed head that covers it; null as long as none does.',
  }),
});

const deliveries = z.array(Delivery).exactOptional();

/** An event with all of its metadata. */
const RecordedEvent = Event.extend({
  streamVersion: z.int().positive().meta({ description: 'Of the item, once this had happened.' }),
  chain: ChainPlace.exactOptional().meta({
    description: 'Its place in the chain of hashes. For administrators.',
  }),
  deliveries: deliveries.meta({ description: 'Where it was sent to, of the webhooks that you may manage.' }),
  _links: Links.meta({
    description:
      '`item` is what it happened to, `schema` the JSON Schema of its data, `cause` the event that it follows from, `trace` all that followed from the same request.',
  }),
}).meta({ id: 'RecordedEvent' });
export type RecordedEvent = Readonly<z.infer<typeof RecordedEvent>>;

/** The events that follow from one request. */
const EventTrace = z
  .strictObject({
    correlation: z
      .string()
      .exactOptional()
      .meta({ description: 'The same for all of them. For whoever sent the request, and administrators.' }),
    events: z.array(Event).meta({
      description:
        'In the order of the log; `causation` is the id of the event that each follows from. Only the event itself, if you do not see what it follows from.',
    }),
    truncated: z.boolean().meta({ description: 'Whether there is more: ask `/events?correlation=`.' }),
    deliveries: deliveries.meta({
      description: 'Where they were sent to, of the webhooks that you may manage.',
    }),
    _links: Links,
  })
  .meta({ id: 'EventTrace' });
export type EventTrace = Readonly<z.infer<typeof EventTrace>>;

const served = { method: 'GET', role: 'query', right: 'events.read' } as const;

export const RECORDED_EVENT_OPERATIONS = {
  getRecordedEvent: {
    ...served,
    path: '/events/{eventId}',
    summary: 'One event: its data, its place in the chain of hashes, and where it was sent to',
    answer: {
      status: 200,
      description: 'The event, as far as you may read it.',
      kind: 'item',
      schema: RecordedEvent,
    },
  },
  traceRecordedEvent: {
    ...served,
    path: '/events/{eventId}/trace',
    summary: 'The causes and consequences of an event, with deliveries',
    answer: {
      status: 200,
      description: 'The events of one request, and where they were sent to.',
      kind: 'item',
      schema: EventTrace,
    },
  },
} as const satisfies Record<string, RestOperation>;

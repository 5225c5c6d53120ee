import * as z from 'zod';
import { oncePer } from '#kernel/base/once-per.ts';
import { Links } from '#kernel/base/rest/fields.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { Delivery } from './delivery.ts';
import { Event } from './events.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().positive();

const SignedBy = z.strictObject({
  count: count.meta({ description: 'The number of events that this head covers.' }),
  at: z.iso.datetime().meta({ description: 'When it was signed.' }),
  key: z.string().meta({ description: 'The `kid` of the key that signed it.' }),
  outside: z.boolean().meta({
    description:
      'Whether the head is also outside the database, where somebody who edits the log cannot change it.',
  }),
});

const ChainPosition = z.strictObject({
  hash: hash.meta({
    description: 'SHA-256 of the canonical form of the event, with personal fields still sealed.',
  }),
  count: count.nullable().meta({
    description:
      'Its number in the log, counted from 1; null while the chain has not reached it, or if the chain has another event there.',
  }),
  head: hash.nullable().meta({ description: 'The head of the hash chain after it.' }),
  signed: SignedBy.nullable().meta({
    description: 'The first signed head that covers it; null while there is none.',
  }),
});

const deliveries = z.array(Delivery).exactOptional();

/** An event with all of its metadata. */
const RecordedEvent = Event.extend({
  streamVersion: z.int().positive().meta({ description: 'The version of the item after this event.' }),
  chain: ChainPosition.exactOptional().meta({
    description: 'Its position in the hash chain. Only administrators see it.',
  }),
  deliveries: deliveries.meta({ description: 'Its deliveries to webhooks that you may manage.' }),
  _links: Links.meta({
    description:
      '`item` is the item of the event, `schema` the JSON Schema of its data, `cause` the event that caused it, and `trace` all events of the same request.',
  }),
}).meta({ id: 'RecordedEvent' });
export type RecordedEvent = Readonly<z.infer<typeof RecordedEvent>>;

/** The events that follow from one request. */
const EventTrace = z
  .strictObject({
    correlation: z.string().exactOptional().meta({
      description: 'The same for all of them. Only the user who sent the request and administrators see it.',
    }),
    events: z.array(Event).meta({
      description:
        'In the order of the log; `causation` is the id of the event that caused each. If you may not see the cause of the event, only the event itself.',
    }),
    truncated: z
      .boolean()
      .meta({ description: 'Whether there are more events: read `/events?correlation=`.' }),
    deliveries: deliveries.meta({
      description: 'Their deliveries to webhooks that you may manage.',
    }),
    _links: Links,
  })
  .meta({ id: 'EventTrace' });
export type EventTrace = Readonly<z.infer<typeof EventTrace>>;

/** An event, without deliveries and the position in the chain if they are not served. */
export const recordedEventFor = oncePer((domain: Domain) => {
  const [hasWebhooks, hasProof] = [serves(domain, 'webhooks'), serves(domain, 'proof')];
  if (hasWebhooks && hasProof) return RecordedEvent;
  return RecordedEvent.omit({
    ...(hasWebhooks ? {} : { deliveries: true }),
    ...(hasProof ? {} : { chain: true }),
  }).meta({ id: 'RecordedEvent' });
});

export const eventTraceFor = oncePer((domain: Domain) =>
  serves(domain, 'webhooks') ? EventTrace : EventTrace.omit({ deliveries: true }).meta({ id: 'EventTrace' }),
);

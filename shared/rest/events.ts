import * as z from 'zod';
import { type Actor, actor } from '#kernel/base/events/metadata.ts';
import { IMPORTED_AT, REASON_GIVEN, SIGNATURE_GIVEN, TRACE } from '#kernel/base/rest/origin.ts';
import { timestamp } from '#kernel/base/values.ts';

/** An event in its public form: in pages, in streams, and in webhooks. */
export const Event = z
  .strictObject({
    id: z.uuid().meta({
      description: 'The same in every stream, webhook and export, also if the event is delivered repeatedly.',
    }),
    type: z.string().meta({ examples: ['user.updated'] }),
    version: z
      .int()
      .positive()
      .meta({ description: 'The version of the event type: it determines the fields of `data`.' }),
    at: timestamp.meta({ description: 'When it happened.' }),
    importedAt: IMPORTED_AT,
    reason: REASON_GIVEN,
    signature: SIGNATURE_GIVEN,
    cursor: z.string().meta({
      description: 'Its position in the log. Send it as `after` or `Last-Event-ID` to continue after it.',
    }),
    subject: z.string().meta({ description: 'The item of the event.', examples: ['user-7001'] }),
    actor: actor.nullable().meta({
      description:
        'The actor: a user, a part of the system, or unknown; null if the event does not name one.',
      examples: ['user:7001', 'system:process-manager'],
    }),
    ...TRACE,
    data: z.record(z.string(), z.json()).meta({
      description:
        'Complete if you may read the item now, otherwise only ids. Personal fields are null after the person was erased.',
    }),
    parked: z.literal(true).exactOptional().meta({
      description: 'The item is parked and cannot be read: an operator has to retry it, or skip the event.',
    }),
  })
  .meta({ id: 'Event' });
export type Event = Readonly<z.infer<typeof Event>>;

/** The parameters by which events are chosen. */
export type EventFilter = {
  readonly types?: readonly string[] | undefined;
  readonly actor?: Actor | undefined;
  readonly subject?: string | undefined;
  readonly correlation?: string | undefined;
  readonly text?: string | undefined;
  /** `client`, unless the domain has a reference of that name, and the ids of referenced aggregates. */
  readonly [reference: string]: readonly string[] | string | number | undefined;
};

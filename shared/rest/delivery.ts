import * as z from 'zod';
import { EXAMPLE_CURSOR } from '#kernel/base/cursor.ts';
import { createdAt, id, Links } from '#kernel/base/rest/fields.ts';
import { timestamp } from '#kernel/base/values.ts';

/** The outcome of a change for a webhook; deliveries of a deleted webhook are deleted with it. */
const DELIVERY_STATES = ['due', 'delivered', 'dead', 'withheld'] as const;
export const deliveryState = z.enum(DELIVERY_STATES);
export type ShownDeliveryState = z.infer<typeof deliveryState>;

const cursor = z.string().meta({ examples: [EXAMPLE_CURSOR] });
export const deliveredType = z.string().meta({ examples: ['user.updated'] });

export const Delivery = z
  .strictObject({
    id: z.uuid().meta({ description: 'The id of the event, and the `webhook-id` of every attempt.' }),
    webhookId: id,
    eventId: z.uuid(),
    type: deliveredType,
    subject: z.string().meta({ description: 'The item of the event.', examples: ['user-7001'] }),
    cursor: cursor.meta({ description: 'The position of the event in the log.' }),
    state: deliveryState.meta({
      description:
        '`due` until it succeeds; `dead` after its last attempt failed; `withheld` if the owner may no longer read it.',
    }),
    attempts: z.int().nonnegative(),
    nextAt: timestamp.nullable().meta({ description: 'Time of the next attempt.' }),
    lastStatus: z.int().nullable().meta({ description: 'The status of the last response.' }),
    lastError: z.string().nullable().meta({
      description: 'Why the last attempt had no response, or why the response counts as a failure.',
    }),
    createdAt: createdAt.meta({ description: 'When it was planned.' }),
    deliveredAt: timestamp.nullable(),
    _links: Links,
  })
  .meta({ id: 'Delivery' });
export type Delivery = Readonly<z.infer<typeof Delivery>>;

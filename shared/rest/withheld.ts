import * as z from 'zod';

/** A type of events that a webhook does not get. */
export const Withheld = z
  .strictObject({
    eventType: z.string().meta({ description: 'One of `eventTypes`.', examples: ['user.*'] }),
    scope: z
      .string()
      .exactOptional()
      .meta({ description: 'The missing scope; absent if the owner lacks the role instead.' }),
    reason: z.string().meta({ description: 'The reason in words.' }),
  })
  .meta({ id: 'WebhookWithheld' });
export type Withheld = Readonly<z.infer<typeof Withheld>>;

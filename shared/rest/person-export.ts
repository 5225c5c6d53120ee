import * as z from 'zod';
import { id } from '#kernel/base/rest/fields.ts';
import { timestamp } from '#kernel/base/values.ts';

const PersonExport = z
  .strictObject({
    format: z.literal('annals-person-1'),
    domain: z.string(),
    userId: id,
    at: timestamp,
    by: z.string().meta({ description: 'The user who requested it.', examples: ['user:7001'] }),
    leftOut: z.array(z.string()).meta({ description: 'Data that is left out, and why.' }),
    sections: z.array(
      z.strictObject({
        name: z.string().meta({ examples: ['personal-access-tokens'] }),
        title: z.string(),
        says: z.string(),
        records: z.array(z.record(z.string(), z.unknown())),
        count: z.int().nonnegative(),
      }),
    ),
    isComplete: z.literal(true),
  })
  .meta({ id: 'PersonExport' });

/** The parts that the operation of a user and that of administrators share. */
export const PERSON_EXPORT = {
  refusals: ['forbidden', 'sign_in_too_old', 'rate_limited'],
  answer: {
    status: 200,
    description:
      'The data, sent as it is read and stored nowhere. The request is an event. A response that does not end with `isComplete` was interrupted.',
    kind: 'sent',
    schema: PersonExport,
  },
} as const;

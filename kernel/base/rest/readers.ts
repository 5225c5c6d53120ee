import * as z from 'zod';
import { actor } from '../events/metadata.ts';
import { timestamp } from '../values.ts';

const READ = {
  number: z.int().positive().meta({ description: 'The number of the entry in the log of reads.' }),
  at: timestamp.meta({ description: 'When it was read.' }),
  actor: actor.meta({ description: 'The reader.', examples: ['user:7001'] }),
  client: z
    .string()
    .nullable()
    .meta({ description: 'The application through which it was read; null without one.' }),
  via: z.string().meta({
    description: 'The interface: `rest`, `graphql`, `stream`, `mcp`, `webhook`, or `command line`.',
    examples: ['rest'],
  }),
  operation: z.string().meta({ description: 'The operation of the interface.', examples: ['getClaim'] }),
  query: z
    .record(z.string(), z.json())
    .meta({ description: 'The names of its parameters, or the hash of its document; never a value.' }),
  request: z
    .string()
    .meta({ description: 'The id of the request, as in `X-Request-Id`, or of the event that was sent.' }),
  fields: z.array(z.string()).meta({ description: 'The fields and lists that were shown.' }),
};

export const Reading = z.strictObject(READ).meta({ id: 'Reading' });
export type Reading = Readonly<z.infer<typeof Reading>>;

export const ReadingOfUser = z
  .strictObject({
    ...READ,
    kind: z.string().meta({ description: 'The aggregate that was read.', examples: ['claim'] }),
    items: z
      .array(z.int().positive())
      .meta({ description: 'The ids that were shown; none if only numbers computed from them were.' }),
  })
  .meta({ id: 'ReadingOfUser' });
export type ReadingOfUser = Readonly<z.infer<typeof ReadingOfUser>>;

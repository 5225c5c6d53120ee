import * as z from 'zod';

/** A line of the file, whose form is that of `annals/item-proof@v1`. */
export const ItemProofLine = z
  .strictObject({
    format: z.literal('annals/item-proof@v1').exactOptional(),
    stream: z
      .string()
      .exactOptional()
      .meta({
        description: 'Of the first line: the stream of the item.',
        examples: ['user-7001'],
      }),
    index: z
      .int()
      .nonnegative()
      .exactOptional()
      .meta({ description: 'Of an event: its place in the log, counted from 0.' }),
    salt: z.string().exactOptional().meta({ description: 'Of an event: the salt of its entry, in base64.' }),
    event: z
      .string()
      .exactOptional()
      .meta({ description: 'Of an event: its canonical form (RFC 8785), as it was recorded.' }),
    hashes: z
      .array(z.string())
      .exactOptional()
      .meta({ description: 'Hashes that lead from the events to the root of the tree, in base64.' }),
    checkpoint: z.string().exactOptional().meta({ description: 'Of the last line: the signed checkpoint.' }),
  })
  .meta({ id: 'ItemProofLine' });

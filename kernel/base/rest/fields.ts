import * as z from 'zod';
import { timestamp } from '../values.ts';

/** The fields that all representations share. */

const href = z.string().meta({ description: 'A path on this origin.', examples: ['/users/7001'] });

const Link = z.strictObject({
  href,
  method: z
    .enum(['POST', 'PUT', 'PATCH', 'DELETE'])
    .exactOptional()
    .meta({ description: 'The method of an action; a link without it is for reading.' }),
});
export type Link = Readonly<z.infer<typeof Link>>;

/** An action is present exactly if this caller may take it now. */
export const Links = z.record(z.string(), Link).meta({
  description: 'Links to related items and actions. An action is present exactly when you may take it now.',
});

const ID_MAX = Number.MAX_SAFE_INTEGER;
export const id = z
  .int()
  .positive()
  .max(ID_MAX)
  .meta({ readOnly: true, examples: [8001] });
export const createdAt = timestamp.meta({ readOnly: true, description: 'When it was created.' });
export const updatedAt = timestamp.meta({ readOnly: true, description: 'When it was last changed.' });

/** In a PUT: a read-only member may be sent back, and is ignored. */
export const unheeded = z
  .unknown()
  .optional()
  .meta({ description: 'Ignored, because it cannot be changed.' });

/** The response to a write; a read can wait for its cursor. */
export const Written = z
  .strictObject({
    id,
    version: z
      .int()
      .nonnegative()
      .meta({ description: 'The number of changes of the item, including its creation.' }),
    cursor: z.string().meta({
      description: 'The cursor of the change: send it as Consistency-Token to read what you wrote.',
    }),
    _links: Links,
  })
  .meta({ id: 'Written' });

/** The response to a change of an item; the operation `item` reads the item. */
export const written = (description: string, item?: string) =>
  ({ status: 200, description, kind: 'written', schema: Written, item }) as const;

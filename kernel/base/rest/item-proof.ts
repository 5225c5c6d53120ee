import * as z from 'zod';
import { ItemAt } from './at.ts';
import type { RestOperation } from './operation.ts';

/** A line of the file, whose form is that of `annals/item-proof@v1`. */
const ItemProofLine = z
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

/** The proof of any item. It has everything that was recorded, so it is for administrators. */
export const ITEM_PROOF = {
  method: 'GET',
  role: 'query',
  right: 'events.export',
  query: ItemAt,
  refusals: ['forbidden', 'too_many_streams', 'unavailable'],
  answer: {
    status: 200,
    description:
      'A file that proves all events of the item up to a checkpoint, or up to `at`: JSON objects, one per line. `annals audit check` verifies it with the key of the log alone. Personal fields stay sealed. If the last line is missing, the file is incomplete.',
    kind: 'lines',
    schema: ItemProofLine,
  },
} as const;

export const USER_PROOF_OPERATIONS = {
  getUserProof: {
    ...ITEM_PROOF,
    path: '/users/{userId}/proof',
    summary: 'A proof of a user, which a stranger can check',
  },
} as const satisfies Record<string, RestOperation>;

export const WEBHOOK_PROOF_OPERATIONS = {
  getWebhookProof: {
    ...ITEM_PROOF,
    path: '/webhooks/{webhookId}/proof',
    summary: 'A proof of a webhook, which a stranger can check',
  },
} as const satisfies Record<string, RestOperation>;

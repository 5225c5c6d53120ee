import { ANSWERS_OF_ITEMS } from './answers.ts';
import { ItemAt } from './at.ts';
import type { RestOperation } from './operation.ts';

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
    get schema() {
      return ANSWERS_OF_ITEMS.itemProof.module.ItemProofLine;
    },
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

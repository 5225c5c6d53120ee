import * as z from 'zod';
import { ANSWERS_OF_ITEMS } from './answers.ts';
import { PAGE } from './lists.ts';
import type { RestOperation } from './operation.ts';

/** The history of any aggregate. */
export const HISTORY = {
  method: 'GET',
  role: 'query',
  right: 'events.read',
  query: z.strictObject(PAGE),
  answer: {
    status: 200,
    description: 'A page of the history, the latest first.',
    kind: 'list',
    get schema() {
      return ANSWERS_OF_ITEMS.history.module.HistoryEntry;
    },
  },
} as const;

export const HISTORY_OPERATIONS = {
  listUserHistory: {
    ...HISTORY,
    path: '/users/{userId}/history',
    summary: 'The history of a user, as far as you may read it',
  },
} as const satisfies Record<string, RestOperation>;

export const WEBHOOK_HISTORY_OPERATIONS = {
  listWebhookHistory: {
    ...HISTORY,
    path: '/webhooks/{webhookId}/history',
    summary: 'The history of a webhook, without secrets',
  },
} as const satisfies Record<string, RestOperation>;

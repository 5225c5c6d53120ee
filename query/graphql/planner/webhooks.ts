import { plainJson } from './json.ts';
import type { Mapping } from './mapping.ts';
import { isReadableWebhook } from './readable.ts';
import { sql } from './sql.ts';

/** Left to the resolvers, but for the id, because `node` may lead to one. */
export const WEBHOOK: Mapping = {
  table: sql`read_model.webhooks`,
  letter: 'w',
  values: { id: (webhook) => plainJson(sql`${webhook}.id`) },
  rows: {},
  isReadable: (webhook) => sql`${webhook}.url is not null and ${isReadableWebhook(webhook)}`,
  orders: {},
};

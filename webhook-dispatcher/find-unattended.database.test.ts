import { expect } from 'vitest';
import type { WebhookId } from '#kernel/base/brands.ts';
import { test } from '../test/engines/webhook-fixture.ts';
import { findUnattended, SWEPT_MAX } from './ledger/runs.ts';

test('the sweeper finds other webhooks behind many that wait in its process', async ({ dependencies }) => {
  const { pool } = dependencies;
  await pool.query(
    `with endpoint as (
       insert into webhook_ledger.endpoint (webhook_id, owner_id, version, status, event_types, scopes, payload, is_ordered, rate_per_second, concurrency)
       select id, 1, 1, 'enabled', '{}', '{}', 'thin', false, 1, 1 from generate_series(1, $1::integer) id returning webhook_id)
     insert into webhook_ledger.delivery (webhook_id, event_id, position, type, subject)
     select webhook_id, gen_random_uuid(), 1, 'article.published', 'article-1' from endpoint`,
    [SWEPT_MAX + 5],
  );
  const waiting = new Set(Array.from({ length: SWEPT_MAX }, (_, index) => (index + 1) as WebhookId));
  const found = await findUnattended(pool, waiting);
  expect(found.map(({ webhookId }) => webhookId).toSorted((one, other) => one - other)).toEqual(
    Array.from({ length: 5 }, (_, index) => SWEPT_MAX + index + 1),
  );
  expect(await findUnattended(pool, new Set())).toHaveLength(SWEPT_MAX);
});

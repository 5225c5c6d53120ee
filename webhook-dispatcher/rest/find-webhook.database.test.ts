import { expect } from 'vitest';
import type { WebhookId } from '#kernel/base/brands.ts';
import { as } from '../../test/engines/command-side.ts';
import { untilProjected } from '../../test/engines/projection.ts';
import { test as base } from '../../test/engines/webhook-fixture.ts';
import { createWebhookFinder } from './find-webhook.ts';

const test = base.extend('find', { scope: 'file' }, ({ dependencies }) =>
  createWebhookFinder(dependencies.pool),
);

test('a webhook is found by its owner and administrators, and absent for others', async ({
  find,
  webhooks,
}) => {
  const webhookId = await webhooks.register({ enabled: false });
  await untilProjected(webhooks.side);
  for (const caller of [as(webhooks.author), as(7, 'admin')])
    expect(await find(webhookId, caller)).toMatchObject({ isEnabled: false });
  for (const id of [webhookId, 1 as WebhookId])
    await expect(find(id, as(7))).rejects.toMatchObject({ code: 'webhook_not_found' });
});

test('a parked webhook is not reported as absent', async ({ find, webhooks }) => {
  const webhookId = 6 as WebhookId;
  await untilProjected(webhooks.side);
  await webhooks.rows(
    `insert into read_model.parked (stream, version, position, type, reason) values ('webhook-6', 1, 1, 'test', 'test')`,
  );
  await expect(find(webhookId, as(webhooks.author))).rejects.toMatchObject({
    code: 'parked',
    headers: { 'Retry-After': '60' },
  });
});

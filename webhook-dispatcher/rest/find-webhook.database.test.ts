import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WebhookId } from '#shared/brands.ts';
import { as } from '../../test/engines/command-side.ts';
import { untilProjected } from '../../test/engines/projection.ts';
import { createWebhookFixture, type WebhookFixture } from '../../test/engines/webhook-fixture.ts';
import type { DispatcherDependencies } from '../service.ts';
import { createWebhookFinder, type FindWebhook } from './find-webhook.ts';

const resources = new AsyncDisposableStack();
let webhooks: WebhookFixture;
let find: FindWebhook;
beforeAll(async () => {
  webhooks = resources.use(await createWebhookFixture());
  const { pool }: DispatcherDependencies = resources.use(await webhooks.dependencies());
  find = createWebhookFinder(pool);
});
afterAll(() => resources.disposeAsync());

test('a webhook is found by its owner and administrators, and absent for others', async () => {
  const webhookId = await webhooks.register({ enabled: false });
  await untilProjected(webhooks.side);
  for (const caller of [as(webhooks.author), as(7, 'admin')])
    expect(await find(webhookId, caller)).toMatchObject({ isEnabled: false });
  for (const id of [webhookId, 1 as WebhookId])
    await expect(find(id, as(7))).rejects.toMatchObject({ code: 'webhook_not_found' });
});

test('a parked webhook is not reported as absent', async () => {
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

import { expect } from 'vitest';
import { startImporting } from '../test/engines/importing.ts';
import { test } from '../test/engines/webhook-fixture.ts';

test('webhooks get nothing that was imported, and everything before and after it', async ({ webhooks }) => {
  const webhookId = await webhooks.register();
  // No dispatcher has planned these before the import.
  await webhooks.publish(2);
  await using importer = await startImporting(webhooks.side);
  const draft = { command: 'article.draft', actor: webhooks.author, form: { title: 'Old', body: '' } };
  const line = { key: 'a-1', at: new Date().toISOString(), ...draft };
  expect(await importer.importing([line])).toMatchObject({ imported: 1 });
  await using _dispatcher = await webhooks.start();
  await webhooks.publish(3);
  await webhooks.untilDeliveries(webhookId, 'delivered', 5);
  expect(await webhooks.deliveriesOf(webhookId)).toHaveLength(5);
});

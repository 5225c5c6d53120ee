import { expect } from 'vitest';
import { test } from '../test/engines/webhook-fixture.ts';
import { migrateLedger } from './ledger/migrate.ts';
import { writeQuiet } from './ledger/quiet.ts';

test('webhooks get nothing that was taken over from another installation, and everything after it', async ({
  webhooks,
}) => {
  const { eventLog, pool } = webhooks.side;
  const webhookId = await webhooks.register();
  await webhooks.publish(2);
  await webhooks.send({ type: 'TestWebhook', webhookId });
  await webhooks.send({ type: 'ReplayWebhook', webhookId, from: '1970-01-01T00:00:00Z' });
  await migrateLedger(pool);
  await writeQuiet(pool, eventLog.identity, await eventLog.head());
  await using _dispatcher = await webhooks.start();
  await webhooks.publish(3);
  await webhooks.untilDeliveries(webhookId, 'delivered', 3);
  expect(await webhooks.rows('select from webhook_ledger.delivery')).toHaveLength(3);
  expect(await webhooks.rows('select from webhook_ledger.replay')).toHaveLength(0);
  expect(webhooks.sink.received).toHaveLength(3);
});

import { expect, test } from 'vitest';
import { createDispatchWorld } from '../test/engines/dispatch-world.ts';
import { migrateLedger } from './ledger/migrate.ts';
import { writeQuiet } from './ledger/quiet.ts';

test('webhooks get nothing that was taken over from another installation, and everything after it', async () => {
  await using world = await createDispatchWorld();
  const { eventLog, pool } = world.side;
  const webhookId = await world.register();
  await world.publish(2);
  await world.send({ type: 'TestWebhook', webhookId });
  await world.send({ type: 'ReplayWebhook', webhookId, from: '1970-01-01T00:00:00Z' });
  await migrateLedger(pool);
  await writeQuiet(pool, eventLog.identity, await eventLog.head());
  await using _dispatcher = await world.start();
  await world.publish(3);
  await world.untilDeliveries(webhookId, 'delivered', 3);
  expect(await world.rows('select from webhook_ledger.delivery')).toHaveLength(3);
  expect(await world.rows('select from webhook_ledger.replay')).toHaveLength(0);
  expect(world.sink.received).toHaveLength(3);
});

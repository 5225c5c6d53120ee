import { expect } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import { test } from '../test/engines/webhook-fixture.ts';
import { until } from '../testing/until.ts';
import { startDispatcher } from './service.ts';

test('a replay since a time starts there, and not with the first event', async ({ webhooks }) => {
  await using dependencies = await webhooks.dependencies();
  const begun: Position[] = [];
  const changes: ChangeStream = {
    head: () => dependencies.changes.head(),
    follow(after, signal) {
      begun.push(after);
      return dependencies.changes.follow(after, signal);
    },
    [Symbol.asyncDispose]: async () => {},
  };
  await using _dispatcher = await startDispatcher({ ...dependencies, changes });
  const webhookId = await webhooks.register();
  await webhooks.publish(3);
  await webhooks.untilDeliveries(webhookId, 'delivered', 3);
  const before = await webhooks.side.eventLog.head();
  const from = new Date(Date.now() + 2);
  await until(
    () => Date.now(),
    (now) => now > from.getTime(),
  );
  await webhooks.publish(2);
  await webhooks.untilDeliveries(webhookId, 'delivered', 5);
  begun.length = 0;
  await webhooks.send({ type: 'ReplayWebhook', webhookId, from: from.toISOString() });
  const [replay] = await until(
    () =>
      webhooks.rows<{ state: string; planned: number }>('select state, planned from webhook_ledger.replay'),
    (rows) => rows[0]?.state === 'finished',
    30_000,
  );
  expect([replay?.planned, begun]).toEqual([2, [before]]);
});

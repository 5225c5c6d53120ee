import { expect } from 'vitest';
import type { WebhookId } from '#kernel/base/brands.ts';
import { test as base } from '../test/engines/webhook-fixture.ts';
import { until } from '../testing/until.ts';
import { startPlanner } from './plan.ts';
import { openDeliveryQueue } from './queue/open.ts';

const test = base
  /** Plans like a process that dies before it reports. */
  .extend('planOne', { scope: 'file' }, ({ dependencies, webhooks }) => async (webhookId: WebhookId) => {
    await using _planner = await startPlanner({ ...dependencies, planned() {} });
    await webhooks.publish(1);
    await webhooks.untilDeliveries(webhookId, 'due', 1);
  })
  /** Changes the ledger as if the clock of the database had been set back by an hour. */
  .extend('setClockBack', { scope: 'file' }, ({ webhooks }) => async () => {
    await webhooks.rows(`update webhook_ledger.clock set seen_at = seen_at + interval '1 hour'`);
    await webhooks.rows(
      `update webhook_ledger.delivery set next_at = next_at + interval '1 hour' where state = 'due'`,
    );
  });

test('deliveries of a silent worker are sent by others', async ({ dependencies, planOne, webhooks }) => {
  const { databaseUrl: url, eventLog, log, clock } = dependencies;
  await using queue = await openDeliveryQueue({ url, name: `webhooks-${eventLog.identity}`, log, clock });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const taken: WebhookId[] = [];
  const hang = async (webhookId: WebhookId): Promise<void> => {
    taken.push(webhookId);
    await ended;
  };
  await using _hanging = await queue.work(hang, { concurrency: 1 });
  const webhookId = await webhooks.register();
  await queue.enqueue([webhookId]);
  await until(
    () => taken.length,
    (length) => length === 1,
  );
  // A job of its own name waits behind the run that counts as active, and again after each that was taken
  // over.
  for (const published of [1, 2]) {
    await planOne(webhookId);
    await using _dispatcher = await webhooks.start();
    await webhooks.untilDeliveries(webhookId, 'delivered', published);
  }
  expect(taken).toEqual([webhookId]);
  end();
});

test('a run whose process died before the clock was set back delays its webhook no longer than any other', async ({
  webhooks,
}) => {
  const webhookId = await webhooks.register({ url: `${webhooks.sink.url}/claimed` });
  await using _dispatcher = await webhooks.start();
  await until(
    () => webhooks.rows('select from webhook_ledger.endpoint where webhook_id = $1', [webhookId]),
    ({ length }) => length === 1,
  );
  await webhooks.rows(
    `update webhook_ledger.endpoint set run_until = clock_timestamp() + interval '1 hour' where webhook_id = $1`,
    [webhookId],
  );
  await webhooks.publish(1);
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
});

test('retries and pauses last as long as without a change of the clock', async ({
  setClockBack,
  webhooks,
}) => {
  const webhookId = await webhooks.register({ url: `${webhooks.sink.url}/waits` });
  {
    await using _planning = await webhooks.start();
    await webhooks.publish(1);
    await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  }
  await webhooks.rows(
    `update webhook_ledger.delivery set state = 'due', next_at = clock_timestamp() where webhook_id = $1`,
    [webhookId],
  );
  await webhooks.rows(
    `update webhook_ledger.endpoint set not_before = clock_timestamp() + interval '1 hour' where webhook_id = $1`,
    [webhookId],
  );
  await setClockBack();
  await using _dispatcher = await webhooks.start();
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
});

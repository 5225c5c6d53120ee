import { expect } from 'vitest';
import { quickTest as test } from '../test/engines/webhook-fixture.ts';
import { until } from '../testing/until.ts';

test('a stopping dispatcher waits a little for deliveries in progress, and does not count those it aborts as failures', async ({
  webhooks,
}) => {
  const dispatcher = await webhooks.start({ WEBHOOK_TIMEOUT_MS: '60000' });
  webhooks.sink.behave(() => {});
  const webhookId = await webhooks.register();
  await webhooks.publish(1);
  await until(
    () => webhooks.sink.received.length,
    (received) => received === 1,
  );
  await dispatcher[Symbol.asyncDispose]();
  expect(
    await webhooks.rows('select from webhook_ledger.attempt where webhook_id = $1', [webhookId]),
  ).toEqual([]);
  webhooks.sink.behave((_received, response) => void response.writeHead(204).end());
  await using _next = await webhooks.start();
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  expect(webhooks.sink.received[1]).toMatchObject({
    id: webhooks.sink.received[0]?.id,
    body: webhooks.sink.received[0]?.body,
  });
});

test('the metrics count deliveries without their destinations', async ({ webhooks }) => {
  await using dispatcher = await webhooks.start();
  const before = webhooks.sink.received.length;
  const webhookId = await webhooks.register({
    url: `${webhooks.sink.url}/metered`,
    headers: { 'X-Team': 'shibboleth' },
  });
  await webhooks.publish(2);
  await webhooks.untilDeliveries(webhookId, 'delivered', 2);
  // Other webhooks receive too, and an arrival counts once it is recorded.
  const arrived = () =>
    `annals_webhook_attempts_total{outcome="delivered"} ${webhooks.sink.received.length - before}\n`;
  const shown = await until(
    () => dispatcher.metrics.metrics(),
    (metrics) => metrics.includes(arrived()) && metrics.includes('annals_webhook_due 0'),
  );
  expect(shown).toMatch(/annals_follower_behind\{follower="webhook-planner"\} \d/);
  for (const secret of ['metered', 'shibboleth', 'whsec_', '127.0.0.1']) expect(shown).not.toContain(secret);
});

test('deliveries due to a disabled webhook do not count as due', async ({ webhooks }) => {
  await using dispatcher = await webhooks.start();
  webhooks.sink.behave(
    ({ path }, response) => void response.writeHead(path === '/refused' ? 500 : 204).end(),
  );
  const webhookId = await webhooks.register({ url: `${webhooks.sink.url}/refused` });
  await webhooks.publish(1);
  await until(() => webhooks.sink.received.some(({ path }) => path === '/refused'), Boolean);
  await webhooks.send({ type: 'DisableWebhook', webhookId, reason: 'owner' });
  await until(
    () => dispatcher.metrics.metrics(),
    (metrics) => metrics.includes('annals_webhook_due 0'),
  );
  expect(
    await webhooks.rows(`select from webhook_ledger.delivery where webhook_id = $1 and state = 'due'`, [
      webhookId,
    ]),
  ).toHaveLength(1);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDispatchWorld, type DispatchWorld } from '../test/engines/dispatch-world.ts';
import { scaled } from '../testing/load.ts';
import { until } from '../testing/until.ts';

const resources = new AsyncDisposableStack();
let world: DispatchWorld;
beforeAll(async () => {
  world = resources.use(await createDispatchWorld());
}, scaled(120_000));
afterAll(() => resources.disposeAsync());

test('a stopping dispatcher waits a little for deliveries in progress, and does not count those it aborts as failures', async () => {
  const dispatcher = await world.start({ WEBHOOK_TIMEOUT_MS: '60000' });
  world.sink.behave(() => {});
  const webhookId = await world.register();
  await world.publish(1);
  await until(
    () => world.sink.received.length,
    (received) => received === 1,
  );
  await dispatcher[Symbol.asyncDispose]();
  expect(await world.rows('select from webhook_ledger.attempt where webhook_id = $1', [webhookId])).toEqual(
    [],
  );
  world.sink.behave((_received, response) => void response.writeHead(204).end());
  await using _next = await world.start();
  await world.untilDeliveries(webhookId, 'delivered', 1);
  expect(world.sink.received[1]).toMatchObject({
    id: world.sink.received[0]?.id,
    body: world.sink.received[0]?.body,
  });
});

test('the metrics count deliveries without their destinations', async () => {
  await using dispatcher = await world.start();
  const before = world.sink.received.length;
  const webhookId = await world.register({
    url: `${world.sink.url}/metered`,
    headers: { 'X-Team': 'shibboleth' },
  });
  await world.publish(2);
  await world.untilDeliveries(webhookId, 'delivered', 2);
  // Other webhooks receive too, and an arrival counts once it is recorded.
  const arrived = () =>
    `annals_webhook_attempts_total{outcome="delivered"} ${world.sink.received.length - before}\n`;
  const shown = await until(
    () => dispatcher.metrics.metrics(),
    (metrics) => metrics.includes(arrived()) && metrics.includes('annals_webhook_due 0'),
  );
  expect(shown).toMatch(/annals_follower_behind\{follower="webhook-planner"\} \d/);
  for (const secret of ['metered', 'shibboleth', 'whsec_', '127.0.0.1']) expect(shown).not.toContain(secret);
});

test('deliveries due to a disabled webhook do not count as due', async () => {
  await using dispatcher = await world.start();
  world.sink.behave(({ path }, response) => void response.writeHead(path === '/refused' ? 500 : 204).end());
  const webhookId = await world.register({ url: `${world.sink.url}/refused` });
  await world.publish(1);
  await until(() => world.sink.received.some(({ path }) => path === '/refused'), Boolean);
  await world.send({ type: 'DisableWebhook', webhookId, reason: 'owner' });
  await until(
    () => dispatcher.metrics.metrics(),
    (metrics) => metrics.includes('annals_webhook_due 0'),
  );
  expect(
    await world.rows(`select from webhook_ledger.delivery where webhook_id = $1 and state = 'due'`, [
      webhookId,
    ]),
  ).toHaveLength(1);
});

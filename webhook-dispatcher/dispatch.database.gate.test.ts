import { expect } from 'vitest';
import type { EventId, WebhookId } from '#kernel/base/brands.ts';
import { as, by, registerUser } from '../test/engines/command-side.ts';
import { quickTest as base } from '../test/engines/webhook-fixture.ts';
import { until } from '../testing/until.ts';

/** The number of refusals before a path accepts. */
const refusals = new Map<string, number>();
const test = base
  .extend('dispatcherSettings', { scope: 'file' }, { WEBHOOK_DISABLE_AFTER_HOURS: '0' })
  .extend(
    'untilStatus',
    { scope: 'file' },
    ({ webhooks }) =>
      async (webhookId: WebhookId, status: string) => {
        const ENDPOINT = 'select status from webhook_ledger.endpoint where webhook_id = $1';
        await until(
          () => webhooks.rows<{ status: string }>(ENDPOINT, [webhookId]),
          ([endpoint]) => endpoint?.status === status,
        );
      },
  );
/** The receiver behaves as its path says. */
test.beforeAll(({ dispatcher: _running, webhooks }) =>
  webhooks.sink.behave(({ path }, response) => {
    if (path.startsWith('/hang')) return;
    if (path.startsWith('/gone')) return void response.writeHead(410).end();
    const left = refusals.get(path) ?? 0;
    refusals.set(path, left - 1);
    response.writeHead(left > 0 ? 500 : 204).end(left > 0 ? 'not\0now' : undefined);
  }),
);

test('a change arrives once, under one id, and the ledger records it', async ({ webhooks }) => {
  const webhookId = await webhooks.register({ url: webhooks.at('/once') });
  await webhooks.publish(5);
  await webhooks.untilDeliveries(webhookId, 'delivered', 5);
  const received = webhooks.receivedAt('/once');
  const deliveries = await webhooks.deliveriesOf(webhookId);
  expect(received.map(({ id }) => id).toSorted()).toEqual(
    deliveries.map(({ event_id }) => event_id).toSorted(),
  );
  expect(deliveries).toEqual(
    deliveries.map((each) => ({ ...each, attempts: 1, last_status: 204, type: 'article.drafted' })),
  );
  expect(received.map(({ body }) => JSON.parse(body).id)).toEqual(received.map(({ id }) => id));
});

test('a refused delivery is retried with the same id and body, and each attempt is recorded', async ({
  webhooks,
}) => {
  refusals.set('/later', 2);
  const webhookId = await webhooks.register({ url: webhooks.at('/later') });
  await webhooks.publish(1);
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  const received = webhooks.receivedAt('/later');
  expect(new Set(received.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
  const attempts = await webhooks.rows<{ number: number; status: number; body: string }>(
    `select number, status, encode(response_body, 'escape') as body from webhook_ledger.attempt where webhook_id = $1 order by number`,
    [webhookId],
  );
  expect(attempts.map(({ number, status }) => [number, status])).toEqual([
    [1, 500],
    [2, 500],
    [3, 204],
  ]);
  expect(attempts[0]?.body).toBe('not\\000now');
});

test('an ordered webhook receives nothing before its predecessors', async ({ webhooks }) => {
  refusals.set('/ordered', 3);
  const webhookId = await webhooks.register({ url: webhooks.at('/ordered'), ordered: true });
  await webhooks.publish(4);
  await webhooks.untilDeliveries(webhookId, 'delivered', 4);
  const inOrder = (await webhooks.deliveriesOf(webhookId)).map(({ event_id }) => event_id);
  const first = inOrder[0] as EventId;
  expect(webhooks.receivedAt('/ordered').map(({ id }) => id)).toEqual([first, first, first, ...inOrder]);
});

test('a receiver that hangs delays no other', async ({ webhooks }) => {
  const hanging = await webhooks.register({ url: webhooks.at('/hang') });
  const other = await webhooks.register({ url: webhooks.at('/beside') });
  await webhooks.publish(3);
  await webhooks.untilDeliveries(other, 'delivered', 3);
  expect((await webhooks.deliveriesOf(hanging)).filter(({ state }) => state !== 'due')).toEqual([]);
  await webhooks.send({ type: 'DeleteWebhook', webhookId: hanging });
  await webhooks.untilDeliveries(hanging, 'dropped', 3);
});

test('a webhook receives only what it asked for and its owner may read', async ({ webhooks }) => {
  const other = await registerUser(webhooks.side);
  const byType = await webhooks.register({
    url: webhooks.at('/types'),
    eventTypes: ['webhook.disabled', 'webhook.enabled'],
  });
  const byAuthor = await webhooks.register({ url: webhooks.at('/author'), filter: { authorId: other } });
  const all = await webhooks.register({ url: webhooks.at('/all'), eventTypes: ['*'] });
  await webhooks.side.send(
    { type: 'DraftArticle', title: 'Secret', body: '', tags: [], cover: null, publish: false },
    by(as(other)),
  );
  await webhooks.publish(1);
  await webhooks.send({ type: 'DisableWebhook', webhookId: byAuthor, reason: 'owner' });
  await webhooks.untilDeliveries(byType, 'delivered', 1);
  await webhooks.untilDeliveries(all, 'delivered', 2);
  expect((await webhooks.deliveriesOf(all)).map(({ type }) => type)).toEqual([
    'article.drafted',
    'webhook.disabled',
  ]);
  expect(await webhooks.deliveriesOf(byAuthor)).toEqual([]);
});

test('a webhook receives nothing beyond the scopes that last decided its destination', async ({
  webhooks,
}) => {
  const webhookId = await webhooks.register({ url: webhooks.at('/scopes'), eventTypes: ['article.*'] });
  const narrow = by(as(webhooks.author, 'author', ['manage:webhooks', 'read:comments']));
  await webhooks.side.send(
    { type: 'EditWebhook', webhookId, eventTypes: ['article.*', 'webhook.deleted'] },
    narrow,
  );
  const other = await webhooks.register({ url: webhooks.at('/scopes/other'), eventTypes: ['comment.*'] });
  await webhooks.publish(1);
  await webhooks.send({ type: 'DeleteWebhook', webhookId: other });
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  await webhooks.send({ type: 'EditWebhook', webhookId, eventTypes: ['article.*'] });
  await webhooks.publish(1);
  await webhooks.untilDeliveries(webhookId, 'delivered', 2);
  expect((await webhooks.deliveriesOf(webhookId)).map(({ type }) => type)).toEqual([
    'webhook.deleted',
    'article.drafted',
  ]);
});

test('nothing is planned for a disabled webhook, and due deliveries continue afterwards', async ({
  untilStatus,
  webhooks,
}) => {
  refusals.set('/paused', Number.POSITIVE_INFINITY);
  const webhookId = await webhooks.register({ url: webhooks.at('/paused') });
  await webhooks.publish(1);
  await until(
    () => webhooks.receivedAt('/paused').length,
    (attempts) => attempts > 0,
  );
  await webhooks.send({ type: 'DisableWebhook', webhookId, reason: 'owner' });
  await untilStatus(webhookId, 'disabled');
  await webhooks.publish(1);
  refusals.set('/paused', 0);
  await webhooks.send({ type: 'EnableWebhook', webhookId });
  await webhooks.publish(1);
  await webhooks.untilDeliveries(webhookId, 'delivered', 2);
  expect(await webhooks.deliveriesOf(webhookId)).toHaveLength(2);
});

test('a test delivery goes to one webhook only, and a single delivery can be repeated', async ({
  webhooks,
}) => {
  const webhookId = await webhooks.register({ url: webhooks.at('/tested'), eventTypes: ['comment.added'] });
  await webhooks.send({ type: 'TestWebhook', webhookId });
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  const [delivery] = await webhooks.deliveriesOf(webhookId);
  expect(delivery?.type).toBe('webhook.test_requested');
  await webhooks.send({ type: 'RedeliverDelivery', webhookId, deliveryId: delivery?.event_id ?? '' });
  await until(
    () => webhooks.receivedAt('/tested').length,
    (attempts) => attempts === 2,
  );
  const [first, second] = webhooks.receivedAt('/tested');
  expect(second).toMatchObject({ id: first?.id, body: first?.body });
});

test('a webhook is disabled if its receiver is gone or fails for too long', async ({
  untilStatus,
  webhooks,
}) => {
  const gone = await webhooks.register({ url: webhooks.at('/gone') });
  const failing = await webhooks.register({ url: webhooks.at('/failing') });
  refusals.set('/failing', Number.POSITIVE_INFINITY);
  await webhooks.publish(1);
  await Promise.all([gone, failing].map((webhookId) => untilStatus(webhookId, 'disabled')));
  expect(webhooks.receivedAt('/gone')).toHaveLength(1);
  expect(webhooks.receivedAt('/failing').length).toBeGreaterThanOrEqual(5);
  const reasons = await webhooks.rows<{ id: number; disabled_reason: string }>(
    'select id, disabled_reason from read_model.webhooks where id = any($1) order by id',
    [[gone, failing]],
  );
  expect(reasons.map(({ disabled_reason }) => disabled_reason)).toEqual(['gone', 'failing']);
});

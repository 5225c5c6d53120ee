import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { WebhookId } from '#kernel/base/brands.ts';
import { storeMetadata } from '#kernel/base/events/metadata.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { appendRaw } from '../test/engines/projection.ts';
import { quickTest as base } from '../test/engines/webhook-fixture.ts';
import { until } from '../testing/until.ts';

type Replay = { state: string; planned: number; at_position: number; to_position: number };
const REPLAYS =
  'select state, planned, at_position, to_position from webhook_ledger.replay where webhook_id = $1';
const test = base
  .extend(
    'replayOf',
    { scope: 'file' },
    ({ webhooks }) =>
      async (webhookId: WebhookId) =>
        (await webhooks.rows<Replay>(REPLAYS, [webhookId])).at(-1),
  )
  .extend(
    'untilFinished',
    { scope: 'file' },
    ({ replayOf }) =>
      (webhookId: WebhookId) =>
        until(
          () => replayOf(webhookId),
          (replay) => replay?.state === 'finished',
          30_000,
        ),
  );
test.beforeAll(({ dispatcher: _running, webhooks }) => webhooks.publish(10));

test('a replay delivers changes from before the registration, and delivered ones again', async ({
  untilFinished,
  webhooks,
}) => {
  const webhookId = await webhooks.register({ url: `${webhooks.sink.url}/again` });
  await webhooks.publish(2);
  await webhooks.untilDeliveries(webhookId, 'delivered', 2);
  await webhooks.send({ type: 'ReplayWebhook', webhookId, from: '1970-01-01T00:00:00Z' });
  const replay = await untilFinished(webhookId);
  expect(replay).toMatchObject({ planned: 12, at_position: replay?.to_position });
  await webhooks.untilDeliveries(webhookId, 'delivered', 12);
  const received = webhooks.receivedAt('/again');
  expect(received).toHaveLength(14);
  expect(new Set(received.map(({ id, body }) => `${id} ${body}`)).size).toBe(12);
});

test('a replay in a log of which this one is a copy covers everything up to the request', async ({
  untilFinished,
  webhooks,
}) => {
  const webhookId = await webhooks.register({ url: `${webhooks.sink.url}/copied` });
  const former = (position: number) => ({ log: '6f9619ff-8b86-4011-b42d-00c04fc96400', position });
  const asked = {
    webhookId,
    ownerId: webhooks.author,
    replayId: randomUUID(),
    from: former(2),
    to: former(3),
    time: null,
    missed: null,
  };
  const { position } = await appendRaw(webhooks.side, `webhook-${webhookId}`, replayRequested(asked), 1);
  await untilFinished(webhookId);
  const [replay] = await webhooks.rows(
    'select from_position, to_position, planned from webhook_ledger.replay where webhook_id = $1',
    [webhookId],
  );
  expect(replay).toEqual({ from_position: 0, to_position: position, planned: 12 });
});

/** The event that a command would record. */
const replayRequested = (data: JsonObject) => ({
  type: 'webhook.replay_requested',
  data,
  metadata: storeMetadata(2, {
    ...{ at: new Date().toISOString(), actor: 'system:test', client: null, request: 'r' },
    ...{ correlation: 'c', causation: null },
  }),
});

test('a replay since a time sends only changes at that time or later', async ({
  untilFinished,
  webhooks,
}) => {
  const webhookId = await webhooks.register({
    url: `${webhooks.sink.url}/since`,
    eventTypes: ['article.drafted'],
  });
  const time = new Date();
  await until(
    () => Date.now(),
    (now) => now > time.getTime() + 5,
  );
  await webhooks.publish(3);
  await webhooks.untilDeliveries(webhookId, 'delivered', 3);
  await webhooks.send({ type: 'ReplayWebhook', webhookId, from: time.toISOString() });
  expect(await untilFinished(webhookId)).toMatchObject({ planned: 3 });
  await until(
    () => webhooks.receivedAt('/since').length,
    (received) => received === 6,
  );
});

test('a replay counts the deliveries that it plans, without those that are due anyway', async ({
  untilFinished,
  webhooks,
}) => {
  const release = Promise.withResolvers<void>();
  webhooks.sink.behave(async (_received, response) => {
    await release.promise;
    response.writeHead(204).end();
  });
  const webhookId = await webhooks.register({ url: `${webhooks.sink.url}/busy` });
  await webhooks.publish(2);
  await webhooks.untilDeliveries(webhookId, 'due', 2);
  await webhooks.send({ type: 'ReplayWebhook', webhookId, from: '1970-01-01T00:00:00Z' });
  const { planned } = (await untilFinished(webhookId)) ?? {};
  const made = await webhooks.rows(
    'select from webhook_ledger.delivery where webhook_id = $1 and replay_id is not null',
    [webhookId],
  );
  expect(planned).toBe(made.length);
  const all = await webhooks.rows('select from webhook_ledger.delivery where webhook_id = $1', [webhookId]);
  expect(made).toHaveLength(all.length - 2);
  release.resolve();
  await webhooks.untilDeliveries(webhookId, 'delivered', all.length);
  webhooks.sink.behave((_received, response) => void response.writeHead(204).end());
});

test('dead letters are sent again on request', async ({ webhooks }) => {
  const refused = { isRefusing: true };
  webhooks.sink.behave(
    (_received, response) => void response.writeHead(refused.isRefusing ? 400 : 204).end(),
  );
  const webhookId = await webhooks.register({ url: `${webhooks.sink.url}/dead` });
  await webhooks.publish(3);
  await webhooks.untilDeliveries(webhookId, 'due', 3);
  // Exhausts the schedule.
  await until(
    async () => {
      await webhooks.rows(
        `update webhook_ledger.delivery set tries = 100 where webhook_id = $1 and state = 'due'`,
        [webhookId],
      );
      return webhooks.rows(`select from webhook_ledger.delivery where webhook_id = $1 and state = 'dead'`, [
        webhookId,
      ]);
    },
    (dead) => dead.length === 3,
  );
  refused.isRefusing = false;
  await webhooks.send({ type: 'RedriveWebhook', webhookId });
  await webhooks.untilDeliveries(webhookId, 'delivered', 3);
});

test('receivers that accept nothing delay no replays of others', async ({ untilFinished, webhooks }) => {
  const stuck = await Promise.all(
    Array.from({ length: 9 }, (_, index) =>
      webhooks.register({ url: `${webhooks.sink.url}/stuck-${index}`, eventTypes: ['user.deleted'] }),
    ),
  );
  const free = await webhooks.register({ url: `${webhooks.sink.url}/free` });
  await webhooks.publish(1);
  await webhooks.untilDeliveries(free, 'delivered', 1);
  // Simulates a long failure with many waiting deliveries.
  await webhooks.rows(
    `insert into webhook_ledger.delivery (webhook_id, event_id, position, type, subject, next_at)
     select webhook_id, gen_random_uuid(), 1, 'user.deleted', 'user-1', now() + interval '1 day' from unnest($1::bigint[]) webhook_id, generate_series(1, 1000)`,
    [stuck],
  );
  for (const webhookId of stuck)
    await webhooks.send({ type: 'ReplayWebhook', webhookId, from: '1970-01-01T00:00:00Z' });
  await until(
    () =>
      webhooks.rows(`select from webhook_ledger.replay where webhook_id = any($1) and state = 'running'`, [
        stuck,
      ]),
    (running) => running.length === stuck.length,
  );
  await webhooks.send({ type: 'ReplayWebhook', webhookId: free, from: '1970-01-01T00:00:00Z' });
  await untilFinished(free);
  expect(
    await webhooks.rows(
      `select from webhook_ledger.replay where webhook_id = any($1) and state = 'running'`,
      [stuck],
    ),
  ).toHaveLength(9);
});

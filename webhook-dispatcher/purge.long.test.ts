import { expect } from 'vitest';
import type { WebhookId } from '#kernel/base/brands.ts';
import { as, by, draftArticle, registerUser } from '../test/engines/command-side.ts';
import { createTestClock } from '../test/engines/test-clock.ts';
import { test as base } from '../test/engines/webhook-fixture.ts';
import { WEBHOOK_FORM } from '../test/webhook-form.ts';
import { purgeMessages, purgeSome } from './ledger/purge.ts';
import { DELETED_EVERY_MS, startPurging } from './purge.ts';

const KEEP_DAYS = 30;
const test = base
  .extend('purge', { scope: 'file' }, ({ dependencies: { pool }, dispatcher: _running }) => async () => {
    await purgeSome(pool, KEEP_DAYS);
    await purgeMessages(pool, KEEP_DAYS);
  })
  /** The periodic purge, whose clock each wait moves. */
  .extend('purging', ({ dependencies: { pool, log } }, { onCleanup }) => {
    const clock = createTestClock();
    const running = startPurging({ pool, keepDays: KEEP_DAYS, log, clock });
    onCleanup(() => running[Symbol.asyncDispose]());
    return {
      advanceUntil: <Seen>(look: () => Promise<Seen>, isIt: (seen: Seen) => boolean) =>
        clock.advanceUntil(DELETED_EVERY_MS, look, isIt),
    };
  })
  .extend('counts', { scope: 'file' }, ({ dispatcher: _running, webhooks }) => async () => {
    const count = async (table: string) =>
      (await webhooks.rows<{ n: number }>(`select count(*) as n from webhook_ledger.${table}`))[0]?.n;
    return {
      deliveries: await count('delivery'),
      attempts: await count('attempt'),
      messages: await count('message'),
    };
  });

test('deletes deliveries that were settled long ago with all their data, and none that are due', async ({
  counts,
  purge,
  webhooks,
}) => {
  const delivered = await webhooks.register();
  await webhooks.publish(3);
  await webhooks.untilDeliveries(delivered, 'delivered', 3);
  await webhooks.send({ type: 'DisableWebhook', webhookId: delivered, reason: 'owner' });
  webhooks.sink.behave((_received, response) => void response.writeHead(500).end());
  const refusing = await webhooks.register();
  await webhooks.publish(2);
  await webhooks.untilDeliveries(refusing, 'due', 2);

  await purge();
  expect(await counts()).toMatchObject({ deliveries: 5, messages: 5 });

  await webhooks.rows(
    `update webhook_ledger.delivery set settled_at = settled_at - interval '31 days', created_at = created_at - interval '31 days'`,
  );
  await webhooks.rows(`update webhook_ledger.message set recorded_at = recorded_at - interval '31 days'`);
  await purge();
  expect(await counts()).toMatchObject({ deliveries: 2, messages: 2 });
  expect(
    await webhooks.rows('select from webhook_ledger.attempt where webhook_id = $1', [delivered]),
  ).toEqual([]);
});

test('deletes attempts at deliveries to webhooks that were deleted, alone or with their owner, at once', async ({
  purging,
  webhooks,
}) => {
  const attemptsOf = (webhookIds: readonly WebhookId[]) =>
    webhooks.rows('select from webhook_ledger.attempt where webhook_id = any($1)', [webhookIds]);
  webhooks.sink.behave((_received, response) => void response.writeHead(204).end());
  const leaving = await registerUser(webhooks.side);
  const { id } = await webhooks.side.send(
    {
      type: 'RegisterWebhook',
      ...WEBHOOK_FORM,
      url: `${webhooks.sink.url}/leaving`,
      eventTypes: ['article.*'],
    },
    by(as(leaving, 'author')),
  );
  const [deleted, kept, ofLeaving] = [await webhooks.register(), await webhooks.register(), id as WebhookId];
  await draftArticle(webhooks.side, leaving, true);
  await webhooks.publish(2);
  for (const webhookId of [deleted, kept]) await webhooks.untilDeliveries(webhookId, 'delivered', 3);
  await webhooks.untilDeliveries(ofLeaving, 'delivered', 2);
  await webhooks.send({ type: 'DeleteWebhook', webhookId: deleted });
  await webhooks.side.send({ type: 'DeleteUser', userId: leaving }, by(as(leaving, 'author')));
  await purging.advanceUntil(
    () => attemptsOf([deleted, ofLeaving]),
    (attempts) => attempts.length === 0,
  );
  expect((await attemptsOf([kept])).length).toBe(3);
  await purging.advanceUntil(
    () => webhooks.rows('select from webhook_ledger.endpoint where is_forgotten'),
    (forgotten) => forgotten.length === 2,
  );
});

test('deletes responses to deliveries about an erased person at once, and keeps the fact of delivery', async ({
  purging,
  webhooks,
}) => {
  const { side, author, sink } = webhooks;
  sink.behave(
    ({ body }, response) => void response.writeHead(200, { 'x-echo': encodeURIComponent(body) }).end(body),
  );
  const webhookId = await webhooks.register({ eventTypes: ['comment.added'], payload: 'full' });
  const [leaving, staying] = [
    await registerUser(side, { name: 'Leaving' }),
    await registerUser(side, { name: 'Staying' }),
  ];
  const articleId = await draftArticle(side, author);
  for (const [commenter, text] of [[leaving, 'Farewell.'] as const, [staying, 'Hello.'] as const])
    await side.send({ type: 'AddComment', articleId, text }, by(as(commenter, 'reader')));
  await webhooks.untilDeliveries(webhookId, 'delivered', 2);
  const answers = async () => {
    const rows = await webhooks.rows<{ response_body: Buffer | null; response_headers: object }>(
      'select response_body, response_headers from webhook_ledger.attempt where webhook_id = $1',
      [webhookId],
    );
    return rows.map(
      ({ response_body, response_headers }) =>
        `${response_body} ${decodeURIComponent(JSON.stringify(response_headers))}`,
    );
  };
  expect((await answers()).filter((answer) => answer.includes('Farewell.'))).toHaveLength(1);
  await side.send({ type: 'DeleteUser', userId: leaving }, by(as(leaving)));
  await purging.advanceUntil(answers, (found) => !found.join().includes('Farewell.'));
  expect((await answers()).toSorted()).toEqual([
    expect.stringContaining('null {}'),
    expect.stringContaining('Hello.'),
  ]);
});

test('reports if there is more than one call deletes', async ({ dependencies, webhooks }) => {
  await webhooks.rows(
    `insert into webhook_ledger.message (event_id, position, change, recorded_at)
     select gen_random_uuid(), 1, '{}', now() - interval '31 days' from generate_series(1, 1001)`,
  );
  expect(await purgeMessages(dependencies.pool, KEEP_DAYS)).toBe(true);
  expect(await purgeMessages(dependencies.pool, KEEP_DAYS)).toBe(false);
});

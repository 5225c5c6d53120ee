import { expect } from 'vitest';
import type { WebhookId } from '#kernel/base/brands.ts';
import { as, by, Died, draftArticle } from '../test/engines/command-side.ts';
import { test as base } from '../test/engines/webhook-fixture.ts';
import { until } from '../testing/until.ts';

/**
 * Tests that one id has one body or none, whatever changes, is lost, or becomes unreadable between two
 * attempts.
 */

const die = async (): Promise<never> => Promise.reject(new Died());
const test = base.extend(
  'runUnheard',
  { scope: 'file' },
  ({ openProcess, webhooks }) =>
    /** Sends due deliveries, and dies before recording them. */
    async (webhookId: WebhookId): Promise<void> => {
      await using dying = openProcess({ ledger: (ledger) => ({ ...ledger, record: die, release: die }) });
      await expect(dying.run(webhookId)).rejects.toThrow(Died);
      await webhooks.expireRun(webhookId);
    },
);

test('a full delivery that was never recorded is withheld once its content may not be read', async ({
  openProcess,
  runUnheard,
  webhooks,
}) => {
  const webhookId = await webhooks.register({
    url: webhooks.at('/taken-back'),
    payload: 'full',
    eventTypes: ['article.drafted'],
  });
  const articleId = await draftArticle(webhooks.side, webhooks.author);
  await webhooks.untilDeliveries(webhookId, 'due', 1);
  await runUnheard(webhookId);
  await webhooks.send({ type: 'DeleteArticle', articleId });
  await until(
    () => webhooks.rows('select from read_model.articles where id = $1', [articleId]),
    (rows) => rows.length === 0,
  );
  await using survivor = openProcess();
  await survivor.run(webhookId);
  await webhooks.untilDeliveries(webhookId, 'withheld', 1);
  expect(webhooks.receivedAt('/taken-back').map(({ body }) => JSON.parse(body).data.title)).toEqual([
    'On engines',
  ]);
});

test('an ids-only delivery that was never recorded is repeated with ids only, even if the webhook asks for all by then', async ({
  openProcess,
  runUnheard,
  webhooks,
}) => {
  const webhookId = await webhooks.register({ url: webhooks.at('/thin'), eventTypes: ['article.drafted'] });
  await draftArticle(webhooks.side, webhooks.author, false);
  await webhooks.untilDeliveries(webhookId, 'due', 1);
  await runUnheard(webhookId);
  await webhooks.send({ type: 'EditWebhook', webhookId, payload: 'full' });
  await draftArticle(webhooks.side, webhooks.author, false);
  await webhooks.untilDeliveries(webhookId, 'due', 2);
  await using survivor = openProcess();
  await survivor.run(webhookId);
  await webhooks.untilDeliveries(webhookId, 'delivered', 2);
  const titles = Map.groupBy(webhooks.receivedAt('/thin'), ({ id }) => id)
    .values()
    .map((received) => received.map(({ body }) => JSON.parse(body).data.title));
  expect([...titles].toSorted((one, other) => other.length - one.length)).toEqual([
    [undefined, undefined],
    ['On engines'],
  ]);
});

test('a webhook that changes from full to ids only before the first attempt gets ids only from then on', async ({
  openProcess,
  runUnheard,
  webhooks,
}) => {
  const webhookId = await webhooks.register({
    url: webhooks.at('/thinner'),
    payload: 'full',
    eventTypes: ['article.drafted'],
  });
  await draftArticle(webhooks.side, webhooks.author, false);
  await webhooks.untilDeliveries(webhookId, 'due', 1);
  await webhooks.send({ type: 'EditWebhook', webhookId, payload: 'thin' });
  await runUnheard(webhookId);
  await webhooks.send({ type: 'EditWebhook', webhookId, payload: 'full' });
  await using survivor = openProcess();
  // A run may start too early; the queue would repeat it.
  await until(
    async () => {
      await survivor.run(webhookId);
      return webhooks.rows(
        `select from webhook_ledger.delivery where webhook_id = $1 and state = 'delivered'`,
        [webhookId],
      );
    },
    (delivered) => delivered.length === 1,
  );
  expect(webhooks.receivedAt('/thinner').map(({ body }) => JSON.parse(body).data.title)).toEqual([
    undefined,
    undefined,
  ]);
});

test('a full delivery waits while nobody can read its content, and arrives unchanged afterwards', async ({
  openProcess,
  webhooks,
}) => {
  const webhookId = await webhooks.register({
    url: webhooks.at('/parked'),
    payload: 'full',
    eventTypes: ['article.drafted'],
  });
  const articleId = await draftArticle(webhooks.side, webhooks.author);
  await webhooks.untilDeliveries(webhookId, 'due', 1);
  webhooks.sink.behave((_received, response) => void response.writeHead(500).end());
  await using process = openProcess();
  const runNow = async () => {
    await webhooks.rows('update webhook_ledger.delivery set next_at = now() where webhook_id = $1', [
      webhookId,
    ]);
    await process.run(webhookId);
  };
  await runNow();
  const sent = webhooks.receivedAt('/parked').length;
  expect(sent).toBeGreaterThan(0);
  const hide = () => webhooks.rows('update read_model.articles set id = -id where abs(id) = $1', [articleId]);
  await hide();
  await webhooks.rows(
    `insert into read_model.parked (stream, version, position, type, reason) values ('article-' || $1::text, 1, 1, 'test', 'test')`,
    [articleId],
  );
  webhooks.sink.behave((_received, response) => void response.writeHead(204).end());
  await runNow();
  await webhooks.untilDeliveries(webhookId, 'due', 1);
  expect(webhooks.receivedAt('/parked')).toHaveLength(sent);
  await hide();
  await webhooks.rows('delete from read_model.parked');
  await runNow();
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  expect(webhooks.receivedAt('/parked')).toHaveLength(sent + 1);
  expect(new Set(webhooks.receivedAt('/parked').map(({ body }) => body)).size).toBe(1);
});

test('planned deliveries do not reach a new address of a user with narrower rights', async ({
  openProcess,
  webhooks,
}) => {
  const webhookId = await webhooks.register({ url: webhooks.at('/wide') });
  await webhooks.publish(2);
  await webhooks.untilDeliveries(webhookId, 'due', 2);
  const narrow = by(as(webhooks.author, 'author', ['manage:webhooks', 'read:comments']));
  await webhooks.side.send({ type: 'EditWebhook', webhookId, url: webhooks.at('/narrow') }, narrow);
  await using process = openProcess();
  await process.run(webhookId);
  await webhooks.untilDeliveries(webhookId, 'withheld', 2);
  expect([...webhooks.receivedAt('/wide'), ...webhooks.receivedAt('/narrow')]).toEqual([]);
});

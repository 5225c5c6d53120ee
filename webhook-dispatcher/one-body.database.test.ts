import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WebhookId } from '#shared/brands.ts';
import { as, by, Died, draftArticle } from '../test/engines/command-side.ts';
import { openRunProcess, type RunProcess } from '../test/engines/run-by-hand.ts';
import { createWebhookFixture, type WebhookFixture } from '../test/engines/webhook-fixture.ts';
import { scaled } from '../testing/load.ts';
import { until } from '../testing/until.ts';
import { migrateLedger } from './ledger/migrate.ts';
import { startPlanner } from './plan.ts';
import type { DispatcherDependencies } from './service.ts';

/**
 * Tests that one id has one body or none, whatever changes, is lost, or becomes unreadable between two
 * attempts.
 */
const resources = new AsyncDisposableStack();
let webhooks: WebhookFixture;
let given: DispatcherDependencies;
beforeAll(async () => {
  webhooks = resources.use(await createWebhookFixture());
  given = resources.use(await webhooks.dependencies());
  await migrateLedger(given.pool);
  resources.use(await startPlanner({ ...given, planned() {} }));
}, scaled(120_000));
afterAll(() => resources.disposeAsync());

const openProcess = (): RunProcess => openRunProcess(given, {});
const die = async (): Promise<never> => Promise.reject(new Died());
/** Sends due deliveries, and dies before recording them. */
const runUnheard = async (webhookId: WebhookId): Promise<void> => {
  await using dying = openRunProcess(given, {
    ledger: (ledger) => ({ ...ledger, record: die, release: die }),
  });
  await expect(dying.run(webhookId)).rejects.toThrow(Died);
  // Simulates that the lease of a run has expired.
  await webhooks.rows(`update webhook_ledger.endpoint set run_until = '-infinity' where webhook_id = $1`, [
    webhookId,
  ]);
};

const at = (path: string) => `${webhooks.sink.url}${path}`;
const receivedAt = (path: string) => webhooks.sink.received.filter((each) => each.path === path);

test('a full delivery that was never recorded is withheld once its content may not be read', async () => {
  const webhookId = await webhooks.register({
    url: at('/taken-back'),
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
  expect(receivedAt('/taken-back').map(({ body }) => JSON.parse(body).data.title)).toEqual(['On engines']);
});

test('an ids-only delivery that was never recorded is repeated with ids only, even if the webhook asks for all by then', async () => {
  const webhookId = await webhooks.register({ url: at('/thin'), eventTypes: ['article.drafted'] });
  await draftArticle(webhooks.side, webhooks.author, false);
  await webhooks.untilDeliveries(webhookId, 'due', 1);
  await runUnheard(webhookId);
  await webhooks.send({ type: 'EditWebhook', webhookId, payload: 'full' });
  await draftArticle(webhooks.side, webhooks.author, false);
  await webhooks.untilDeliveries(webhookId, 'due', 2);
  await using survivor = openProcess();
  await survivor.run(webhookId);
  await webhooks.untilDeliveries(webhookId, 'delivered', 2);
  const titles = Map.groupBy(receivedAt('/thin'), ({ id }) => id)
    .values()
    .map((received) => received.map(({ body }) => JSON.parse(body).data.title));
  expect([...titles].toSorted((one, other) => other.length - one.length)).toEqual([
    [undefined, undefined],
    ['On engines'],
  ]);
});

test('a webhook that changes from full to ids only before the first attempt gets ids only from then on', async () => {
  const webhookId = await webhooks.register({
    url: at('/thinner'),
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
  expect(receivedAt('/thinner').map(({ body }) => JSON.parse(body).data.title)).toEqual([
    undefined,
    undefined,
  ]);
});

test('a full delivery waits while nobody can read its content, and arrives unchanged afterwards', async () => {
  const webhookId = await webhooks.register({
    url: at('/parked'),
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
  const sent = receivedAt('/parked').length;
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
  expect(receivedAt('/parked')).toHaveLength(sent);
  await hide();
  await webhooks.rows('delete from read_model.parked');
  await runNow();
  await webhooks.untilDeliveries(webhookId, 'delivered', 1);
  expect(receivedAt('/parked')).toHaveLength(sent + 1);
  expect(new Set(receivedAt('/parked').map(({ body }) => body)).size).toBe(1);
});

test('planned deliveries do not reach a new address of a user with narrower rights', async () => {
  const webhookId = await webhooks.register({ url: at('/wide') });
  await webhooks.publish(2);
  await webhooks.untilDeliveries(webhookId, 'due', 2);
  const narrow = by(as(webhooks.author, 'author', ['manage:webhooks', 'read:comments']));
  await webhooks.side.send({ type: 'EditWebhook', webhookId, url: at('/narrow') }, narrow);
  await using process = openProcess();
  await process.run(webhookId);
  await webhooks.untilDeliveries(webhookId, 'withheld', 2);
  expect([...receivedAt('/wide'), ...receivedAt('/narrow')]).toEqual([]);
});

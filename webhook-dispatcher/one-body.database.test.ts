import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WebhookId } from '#shared/brands.ts';
import { as, by, Died, draftArticle } from '../test/engines/command-side.ts';
import { createDispatchWorld, type DispatchWorld } from '../test/engines/dispatch-world.ts';
import { openRunProcess, type RunProcess } from '../test/engines/run-by-hand.ts';
import { scaled } from '../testing/load.ts';
import { until } from '../testing/until.ts';
import { migrateLedger } from './ledger/migrate.ts';
import { startPlanner } from './plan.ts';
import type { DispatcherDependencies } from './service.ts';

/**
 * What arrives under one id is one body, or nothing: whatever is changed, lost, or may not be read between
 * two attempts.
 */
const resources = new AsyncDisposableStack();
let world: DispatchWorld;
let given: DispatcherDependencies;
beforeAll(async () => {
  world = resources.use(await createDispatchWorld());
  given = resources.use(await world.dependencies());
  await migrateLedger(given.pool);
  resources.use(await startPlanner({ ...given, planned() {} }));
}, scaled(120_000));
afterAll(() => resources.disposeAsync());

const openProcess = (): RunProcess => openRunProcess(given, {});
const die = async (): Promise<never> => Promise.reject(new Died());
/** Sends what is due, and dies before anybody hears of it. */
const runUnheard = async (webhookId: WebhookId): Promise<void> => {
  await using dying = openRunProcess(given, {
    ledger: (ledger) => ({ ...ledger, record: die, release: die }),
  });
  await expect(dying.run(webhookId)).rejects.toThrow(Died);
  // As if so much time had passed as a run may be silent for.
  await world.rows(`update webhook_ledger.endpoint set run_until = '-infinity' where webhook_id = $1`, [
    webhookId,
  ]);
};

const at = (path: string) => `${world.sink.url}${path}`;
const receivedAt = (path: string) => world.sink.received.filter((each) => each.path === path);

test('what was sent in full, without anybody knowing of it, does not come by its ids once it may not be read any more', async () => {
  const webhookId = await world.register({
    url: at('/taken-back'),
    payload: 'full',
    eventTypes: ['article.drafted'],
  });
  const articleId = await draftArticle(world.side, world.author);
  await world.untilDeliveries(webhookId, 'due', 1);
  await runUnheard(webhookId);
  await world.send({ type: 'DeleteArticle', articleId });
  await until(
    () => world.rows('select from read_model.articles where id = $1', [articleId]),
    (rows) => rows.length === 0,
  );
  await using survivor = openProcess();
  await survivor.run(webhookId);
  await world.untilDeliveries(webhookId, 'withheld', 1);
  expect(receivedAt('/taken-back').map(({ body }) => JSON.parse(body).data.title)).toEqual(['On engines']);
});

test('what was sent by its ids, without anybody knowing of it, comes so again although all is asked for by then', async () => {
  const webhookId = await world.register({ url: at('/thin'), eventTypes: ['article.drafted'] });
  await draftArticle(world.side, world.author, false);
  await world.untilDeliveries(webhookId, 'due', 1);
  await runUnheard(webhookId);
  await world.send({ type: 'EditWebhook', webhookId, payload: 'full' });
  await draftArticle(world.side, world.author, false);
  await world.untilDeliveries(webhookId, 'due', 2);
  await using survivor = openProcess();
  await survivor.run(webhookId);
  await world.untilDeliveries(webhookId, 'delivered', 2);
  const titles = Map.groupBy(receivedAt('/thin'), ({ id }) => id)
    .values()
    .map((received) => received.map(({ body }) => JSON.parse(body).data.title));
  expect([...titles].toSorted((one, other) => other.length - one.length)).toEqual([
    [undefined, undefined],
    ['On engines'],
  ]);
});

test('what was asked for in full and is asked for by its ids before it is sent comes by them from then on', async () => {
  const webhookId = await world.register({
    url: at('/thinner'),
    payload: 'full',
    eventTypes: ['article.drafted'],
  });
  await draftArticle(world.side, world.author, false);
  await world.untilDeliveries(webhookId, 'due', 1);
  await world.send({ type: 'EditWebhook', webhookId, payload: 'thin' });
  await runUnheard(webhookId);
  await world.send({ type: 'EditWebhook', webhookId, payload: 'full' });
  await using survivor = openProcess();
  // A run may come before what it needs is there; the queue would come again.
  await until(
    async () => {
      await survivor.run(webhookId);
      return world.rows(`select from webhook_ledger.delivery where webhook_id = $1 and state = 'delivered'`, [
        webhookId,
      ]);
    },
    (delivered) => delivered.length === 1,
  );
  expect(receivedAt('/thinner').map(({ body }) => JSON.parse(body).data.title)).toEqual([
    undefined,
    undefined,
  ]);
});

test('what was sent in full waits while nobody can read it, and arrives as it was once it can be read again', async () => {
  const webhookId = await world.register({
    url: at('/parked'),
    payload: 'full',
    eventTypes: ['article.drafted'],
  });
  const articleId = await draftArticle(world.side, world.author);
  await world.untilDeliveries(webhookId, 'due', 1);
  world.sink.behave((_received, response) => void response.writeHead(500).end());
  await using process = openProcess();
  const runNow = async () => {
    await world.rows('update webhook_ledger.delivery set next_at = now() where webhook_id = $1', [webhookId]);
    await process.run(webhookId);
  };
  await runNow();
  const sent = receivedAt('/parked').length;
  expect(sent).toBeGreaterThan(0);
  const hide = () => world.rows('update read_model.articles set id = -id where abs(id) = $1', [articleId]);
  await hide();
  await world.rows(
    `insert into read_model.parked (stream, version, position, type, reason) values ('article-' || $1::text, 1, 1, 'test', 'test')`,
    [articleId],
  );
  world.sink.behave((_received, response) => void response.writeHead(204).end());
  await runNow();
  await world.untilDeliveries(webhookId, 'due', 1);
  expect(receivedAt('/parked')).toHaveLength(sent);
  await hide();
  await world.rows('delete from read_model.parked');
  await runNow();
  await world.untilDeliveries(webhookId, 'delivered', 1);
  expect(receivedAt('/parked')).toHaveLength(sent + 1);
  expect(new Set(receivedAt('/parked').map(({ body }) => body)).size).toBe(1);
});

test('what was planned is not told at an address that somebody who may read less has put in', async () => {
  const webhookId = await world.register({ url: at('/wide') });
  await world.publish(2);
  await world.untilDeliveries(webhookId, 'due', 2);
  const narrow = by(as(world.author, 'author', ['manage:webhooks', 'read:comments']));
  await world.side.send({ type: 'EditWebhook', webhookId, url: at('/narrow') }, narrow);
  await using process = openProcess();
  await process.run(webhookId);
  await world.untilDeliveries(webhookId, 'withheld', 2);
  expect([...receivedAt('/wide'), ...receivedAt('/narrow')]).toEqual([]);
});

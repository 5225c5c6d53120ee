// Over 200 lines, because every planner runs on the one log and ledger that are set up here.
import { expect } from 'vitest';
import type { WebhookId } from '#kernel/base/brands.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import { PLANNER } from '#shared/webhooks/planner.ts';
import { untilProjected } from '../test/engines/projection.ts';
import { test as base } from '../test/engines/webhook-fixture.ts';
import { until } from '../testing/until.ts';
import { startPlanner } from './plan.ts';
import type { PlannedRuns } from './planned-runs.ts';

const due = ['article.drafted', 'due'] as const;
const test = base
  .extend(
    'start',
    { scope: 'file' },
    ({ dependencies }) =>
      (
        changes: Pick<ChangeStream, 'follow'> = dependencies.changes,
        planned: (runs: PlannedRuns) => void = () => {},
      ) =>
        startPlanner({ ...dependencies, changes, planned }),
  )
  .extend('untilPlanned', { scope: 'file' }, ({ dependencies, webhooks }) => async () => {
    const head = await dependencies.eventLog.head();
    const CHECKPOINT = 'select position from public.follower_checkpoint where follower = $1';
    await until(
      async () => (await webhooks.rows<{ position: number }>(CHECKPOINT, [PLANNER]))[0]?.position ?? 0,
      (position) => position >= head,
    );
  })
  .extend('plannedTo', { scope: 'file' }, ({ webhooks }) => async (webhookId: WebhookId) => {
    const deliveries = await webhooks.deliveriesOf(webhookId);
    return deliveries.map(({ type, state }) => [type, state] as const);
  });

test('a webhook gets exactly the changes of the time when it was enabled, however late they are planned', async ({
  plannedTo,
  start,
  untilPlanned,
  webhooks,
}) => {
  await webhooks.publish(1);
  const webhookId = await webhooks.register();
  await webhooks.publish(2);
  await webhooks.send({ type: 'DisableWebhook', webhookId, reason: 'owner' });
  await webhooks.publish(1);
  await webhooks.send({ type: 'EnableWebhook', webhookId });
  await webhooks.publish(1);
  await webhooks.send({ type: 'EditWebhook', webhookId, eventTypes: ['comment.*'] });
  await webhooks.publish(1);
  await using _planner = await start();
  await untilPlanned();
  expect(await plannedTo(webhookId)).toEqual([due, due, due]);
});

test('plans for a webhook that is deleted afterwards are dropped', async ({
  plannedTo,
  start,
  untilPlanned,
  webhooks,
}) => {
  const webhookId = await webhooks.register();
  await webhooks.publish(2);
  await webhooks.send({ type: 'DeleteWebhook', webhookId });
  await webhooks.publish(1);
  await using _planner = await start();
  await untilPlanned();
  expect(await plannedTo(webhookId)).toEqual(Array(2).fill(['article.drafted', 'dropped']));
});

test('planning resumes where it was interrupted, with the webhooks of that position', async ({
  dependencies,
  plannedTo,
  start,
  untilPlanned,
  webhooks,
}) => {
  const webhookId = await webhooks.register();
  for (let times = 0; times < 3; times += 1) {
    await webhooks.publish(3);
    let pages = 0;
    const ending: Pick<ChangeStream, 'follow'> = {
      async *follow(after, signal) {
        // One change per page, and the third never comes.
        for await (const { changes } of dependencies.changes.follow(after, signal)) {
          for (const change of changes) {
            pages += 1;
            if (pages === 3) throw new RangeError('ended');
            yield { changes: [change], upTo: change.position };
          }
        }
      },
    };
    await using _broken = await start(ending);
    await until(
      () => pages,
      (seen) => seen >= 3,
    );
  }
  const hinted = new Set<WebhookId>();
  await using _planner = await start(dependencies.changes, (runs) =>
    runs.forEach((_, id) => void hinted.add(id)),
  );
  await webhooks.publish(1);
  await untilPlanned();
  expect(await plannedTo(webhookId)).toEqual(Array(10).fill(due));
  expect(hinted).toContain(webhookId);
});

test('a webhook is reported when something is planned for it, and not again when the checkpoint moves', async ({
  dependencies,
  start,
  untilPlanned,
  webhooks,
}) => {
  const webhookId = await webhooks.register();
  await webhooks.publish(4);
  const named: WebhookId[] = [];
  let namedByThen: readonly WebhookId[] | undefined;
  const oneArticle: Pick<ChangeStream, 'follow'> = {
    async *follow(after, signal) {
      for await (const { changes } of dependencies.changes.follow(after, signal))
        for (const change of changes) {
          yield { changes: namedByThen === undefined ? [change] : [], upTo: change.position };
          if (change.type === 'article.drafted') namedByThen ??= named.splice(0);
        }
    },
  };
  await using _planner = await start(oneArticle, (runs) => named.push(...runs.keys()));
  await untilPlanned();
  expect(namedByThen).toContain(webhookId);
  expect(named).toEqual([]);
});

test('the ledger contains no personal data', async ({ plannedTo, start, untilPlanned, webhooks }) => {
  const webhookId = await webhooks.register({
    url: `${webhooks.sink.url}/shibboleth`,
    description: 'Shibboleth',
    eventTypes: ['*'],
    headers: { 'X-Key': 'shibboleth' },
  });
  const other = await webhooks.register({
    url: `${webhooks.sink.url}/shibboleth`,
    description: 'Shibboleth',
  });
  await webhooks.send({ type: 'EditWebhook', webhookId: other, description: 'Shibboleth again' });
  await using _planner = await start();
  await untilPlanned();
  expect((await plannedTo(webhookId)).map(([type]) => type)).toEqual([
    'webhook.registered',
    'webhook.changed',
  ]);
  const rows = await webhooks.rows<{ all: string }>(
    `select lower(string_agg(whole, ' ')) as all from (
       select row(e)::text as whole from webhook_ledger.endpoint e union all select row(m)::text from webhook_ledger.message m
       union all select row(d)::text from webhook_ledger.delivery d) everything`,
  );
  expect(rows[0]?.all).toContain('webhook.registered');
  for (const secret of ['shibboleth', 'whsec_', '127.0.0.1']) expect(rows[0]?.all).not.toContain(secret);
});

test('a page that is large for so many webhooks is planned completely', async ({
  dependencies,
  plannedTo,
  start,
  untilPlanned,
  webhooks,
}) => {
  const webhookId = await webhooks.register();
  await webhooks.publish(50);
  const inOnePage: Pick<ChangeStream, 'follow'> = {
    async *follow(after, signal) {
      const head = await dependencies.eventLog.head();
      const changes = [];
      for await (const page of dependencies.changes.follow(after, signal)) {
        changes.push(...page.changes);
        if (page.upTo >= head) break;
      }
      yield { changes, upTo: head };
      yield* dependencies.changes.follow(head, signal);
    },
  };
  await using _planner = await start(inOnePage);
  await untilPlanned();
  expect(await plannedTo(webhookId)).toEqual(Array(50).fill(due));
});

test('planning never deadlocks with a transaction that locks several webhooks in any order', async ({
  dependencies,
  start,
  untilPlanned,
  webhooks,
}) => {
  const [first, second] = [await webhooks.register(), await webhooks.register()];
  await using planner = await start();
  await untilPlanned();
  await planner[Symbol.asyncDispose]();
  // Planned together, the later one first.
  for (const webhookId of [second, first]) await webhooks.send({ type: 'TestWebhook', webhookId });
  const taker = await dependencies.pool.connect();
  const take = (webhookId: WebhookId) =>
    taker.query('select from webhook_ledger.endpoint where webhook_id = $1 for update', [webhookId]);
  try {
    await taker.query('begin');
    await take(first);
    await using _planner = await start();
    await until(
      () =>
        webhooks.rows(
          `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%webhook_ledger.endpoint%'`,
        ),
      (waiting) => waiting.length > 0,
    );
    await take(second);
    await taker.query('commit');
    await untilPlanned();
  } finally {
    await taker.query('rollback');
    taker.release();
  }
});

test('nothing is lost for an owner who is temporarily unreadable', async ({
  plannedTo,
  start,
  untilPlanned,
  webhooks,
}) => {
  const webhookId = await webhooks.register();
  await untilProjected(webhooks.side);
  await webhooks.rows('delete from read_model.users where id = $1', [webhooks.author]);
  await webhooks.rows(
    `insert into read_model.parked (stream, version, position, type, reason) values ('user-${webhooks.author}', 1, 1, 'test', 'test')`,
  );
  await using _planner = await start();
  await webhooks.publish(2);
  await untilPlanned();
  expect(await plannedTo(webhookId)).toEqual([due, due]);
  await webhooks.rows('delete from read_model.parked');
});

import { expect } from 'vitest';
import type { UserId, WebhookId } from '#kernel/base/brands.ts';
import { countLeft } from '#shared/erasure/report.ts';
import { destroyKey } from '#shared/keys/postgres/statements.ts';
import { as, by, draftArticle, registerUser } from '../test/engines/command-side.ts';
import { test as base } from '../test/engines/webhook-fixture.ts';
import { until } from '../testing/until.ts';
import { migrateLedger } from './ledger/migrate.ts';

const TEXT = 'Farewell.';

const test = base
  .extend('dependencies', { scope: 'file' }, async ({ webhooks }, { onCleanup }) => {
    // An erasure on a busy machine takes longer than an attempt may take elsewhere.
    const dependencies = await webhooks.dependencies({ WEBHOOK_TIMEOUT_MS: '300000' });
    onCleanup(() => dependencies[Symbol.asyncDispose]());
    await migrateLedger(dependencies.pool);
    return dependencies;
  })
  /** A webhook with the full payload, and a due delivery of a comment by somebody new. */
  .extend('commented', ({ planner: _planning, webhooks }) => async () => {
    const { side, author } = webhooks;
    const webhookId = await webhooks.register({
      url: webhooks.at('/comments'),
      eventTypes: ['comment.added'],
      payload: 'full',
    });
    const userId = await registerUser(side, { name: 'Leaving' });
    const articleId = await draftArticle(side, author);
    await side.send({ type: 'AddComment', articleId, text: TEXT }, by(as(userId, 'reader')));
    await webhooks.untilDeliveries(webhookId, 'due', 1);
    return { webhookId, userId };
  })
  .extend('erased', ({ dependencies, webhooks: { side } }) => async (userId: UserId) => {
    await side.send({ type: 'DeleteUser', userId }, by(as(userId, 'reader')));
    await until(
      async () => (await side.keys.find([userId])).get(userId),
      (key) => key === 'destroyed',
    );
    await until(
      () => countLeft({ ...dependencies, tables: side.tables }, userId),
      (parts) => parts.every(({ left }) => left === 0),
    );
  })
  .extend(
    'attemptsOf',
    ({ webhooks }) =>
      (webhookId: WebhookId) =>
        webhooks.rows(
          `select status, attempt.error, response_headers, response_body, last_error from webhook_ledger.attempt
         join webhook_ledger.delivery using (webhook_id, event_id) where webhook_id = $1`,
          [webhookId],
        ),
  );

const NOTHING_PERSONAL = { error: null, response_headers: {}, response_body: null, last_error: null };

test.for([
  [200, 'delivered'],
  [500, 'due'],
] as const)(
  'a receiver that answers %i after an erasure is done leaves nothing about the person',
  async ([status, state], { attemptsOf, commented, dependencies, erased, openProcess, webhooks }) => {
    const { webhookId, userId } = await commented();
    const answering = Promise.withResolvers<void>();
    webhooks.sink.behave(async ({ body }, response) => {
      await answering.promise;
      response.writeHead(status, { 'x-echo': encodeURIComponent(body) }).end(body);
    });
    await using process = openProcess();
    const running = process.run(webhookId);
    await until(
      () => webhooks.receivedAt('/comments').filter(({ body }) => body.includes(TEXT)).length,
      (received) => received > 0,
    );
    await erased(userId);
    answering.resolve();
    await running;
    expect(await webhooks.deliveriesOf(webhookId)).toMatchObject([
      { state, attempts: 1, last_status: status },
    ]);
    expect(await attemptsOf(webhookId)).toEqual([{ status, ...NOTHING_PERSONAL }]);
    const left = await countLeft({ ...dependencies, tables: webhooks.side.tables }, userId);
    expect(left.filter((part) => part.left > 0)).toEqual([]);
  },
);

test('a response that is recorded while the key is being destroyed waits, and leaves nothing', async ({
  attemptsOf,
  commented,
  dependencies: { pool },
  openProcess,
  webhooks,
}) => {
  const { webhookId, userId } = await commented();
  webhooks.sink.behave(({ body }, response) => void response.writeHead(200).end(body));
  await using process = openProcess();
  const connection = await pool.connect();
  try {
    await connection.query('begin');
    await destroyKey(connection, userId);
    const running = process.run(webhookId);
    await until(
      () =>
        webhooks.rows(
          `select from pg_stat_activity where datname = current_database() and application_name = 'dispatcher' and wait_event_type = 'Lock'`,
        ),
      (waiting) => waiting.length === 1,
    );
    await connection.query('commit');
    await running;
  } finally {
    connection.release();
  }
  expect(await attemptsOf(webhookId)).toEqual([{ status: 200, ...NOTHING_PERSONAL }]);
});

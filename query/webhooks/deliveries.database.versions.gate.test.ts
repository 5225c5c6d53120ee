// Over 200 lines, because every list reads the one ledger that is filled here.
import { describe, expect } from 'vitest';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { createCommandDatabase } from '../../test/engines/command-side.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { fillLedger, idOf } from '../../test/engines/filled-ledger.ts';

type Answer<Data> = {
  readonly data: Data;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
};

const test = base
  // Nobody has made the tables of deliveries yet.
  .extend('backendOptions', { scope: 'file' }, async ({ backendSettings: _given }, { onCleanup }) => {
    const on = await createCommandDatabase({ createDatabase });
    onCleanup(() => on[Symbol.asyncDispose]());
    return { on };
  })
  .extend(
    'graphql',
    { scope: 'file' },
    ({ author, backend }) =>
      async <Data>(query: string, by: Asker = author) =>
        (await backend.ask('/graphql', { by, method: 'POST', body: { query } })).body as Answer<Data>,
  )
  .extend('webhookId', { scope: 'file' }, async ({ graphql }) => {
    const input = '{ url: "https://shop.example/hooks", eventTypes: ["*"] }';
    const { data } = await graphql<{ registerWebhook: { webhook: { id: string } } }>(
      `mutation { registerWebhook(input: ${input}) { webhook { id } } }`,
    );
    return data.registerWebhook.webhook.id;
  })
  .extend('read', { scope: 'file' }, ({ graphql, webhookId }) => async (args: string) => {
    const query = `{ webhook(id: ${webhookId}) { page: deliveriesConnection${args} {
    nodes { id } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;
    const { data, errors } = await graphql<Page>(query);
    expect(errors).toBeUndefined();
    const { nodes, pageInfo } = data.webhook.page;
    return { ids: nodes.map(({ id }) => id), ...pageInfo };
  })
  .extend('search', { scope: 'file' }, ({ graphql }) => async (args: string, by?: Asker) => {
    const { data, errors } = await graphql<{
      deliveriesConnection: { nodes: readonly { id: string; webhook: object }[] };
    }>(`{ deliveriesConnection${args} { nodes { id webhook { id } } } }`, by);
    return errors?.map(({ extensions: { code } }) => code) ?? data.deliveriesConnection.nodes;
  });

type Page = {
  webhook: {
    page: {
      nodes: { id: string }[];
      pageInfo: { [name: string]: unknown; startCursor: string; endCursor: string };
    };
  };
};
const ids = (...numbers: readonly number[]) => numbers.map(idOf);

test('before a dispatcher has ever run, there are no deliveries', async ({ graphql, webhookId }) => {
  const { errors } = await graphql(`{ webhook(id: ${webhookId}) { deliveriesConnection { nodes { id } } } }`);
  expect(errors).toMatchObject([{ extensions: { code: 'unavailable' } }]);
});

describe('after the dispatcher has run', () => {
  test.beforeAll(({ backend, webhookId }) => fillLedger(backend.side.pool, webhookId));

  test('deliveries come the latest first, in pages both ways', async ({ read }) => {
    const first = await read('(first: 2)');
    expect(first).toMatchObject({ ids: ids(5, 4), hasNextPage: true, hasPreviousPage: false });
    const second = await read(`(first: 2, after: "${first.endCursor}")`);
    expect(second).toMatchObject({ ids: ids(3, 2), hasNextPage: true, hasPreviousPage: true });
    expect(await read(`(last: 2, before: "${second.endCursor}")`)).toMatchObject({
      ids: ids(4, 3),
      hasNextPage: true,
      hasPreviousPage: true,
    });
    expect(await read('(last: 2)')).toMatchObject({
      ids: ids(2, 1),
      hasNextPage: false,
      hasPreviousPage: true,
    });
    expect(await read(`(after: "${first.endCursor}", before: "${second.endCursor}")`)).toMatchObject({
      ids: ids(3),
    });
    expect(await read('(first: 0)')).toMatchObject({ ids: [], hasNextPage: true, startCursor: null });
  });

  test.for<[string, number[]]>([
    ['state: dead', [3]],
    ['type: "article.published"', [4, 2]],
    ['since: "2026-01-01T00:00:02.000Z", until: "2026-01-01T00:00:04.000Z"', [3, 2]],
    ['state: due, type: null', [5, 4, 2, 1]],
  ])('deliveries are filtered by { %s }', async ([filter, numbers], { read }) => {
    expect((await read(`(filter: { ${filter} })`)).ids).toEqual(ids(...numbers));
  });

  test.for<[string, number[]]>([
    ['', [5, 4, 3, 2, 1]],
    ['(last: 2)', [2, 1]],
    ['(filter: { state: failed })', [3]],
    ['(filter: { state: dead })', [3]],
    ['(filter: { type: "article.published" })', [4, 2]],
    ['(filter: { since: "2026-01-01T00:00:04Z" })', [5, 4]],
    ['(filter: { until: "2026-01-01T00:00:02Z", webhook: null })', [1]],
    ['(filter: { webhook: 7 })', []],
  ])('deliveries to all webhooks are found by %s', async ([args, numbers], { search, webhookId }) => {
    expect(await search(args)).toEqual(ids(...numbers).map((id) => ({ id, webhook: { id: webhookId } })));
  });

  test('deliveries to the webhooks of others are not found', async ({ backend, search }) => {
    expect(await search('', await backend.person('author'))).toEqual([]);
  });

  test.for<[string, string]>([
    ['/webhook', 'webhook: "x"'],
    ['/eventId', 'eventId: "7"'],
    ['/subject', 'subject: "\\u0000"'],
    ['/type', `type: "${'x'.repeat(201)}"`],
  ])('a search is refused at %s by its name in GraphQL', async ([pointer, filter], { graphql }) => {
    const { errors } = await graphql(`{ deliveriesConnection(filter: { ${filter} }) { nodes { id } } }`);
    expect(errors).toMatchObject([{ extensions: { code: 'invalid_request', errors: [{ pointer }] } }]);
  });

  test('a cursor of another list, too many items, and first together with last are refused', async ({
    graphql,
    read,
    webhookId,
  }) => {
    const { endCursor } = await read('(first: 1)');
    const refused = async (field: string) =>
      (await graphql(`{ webhook(id: ${webhookId}) { ${field} { nodes { id } } } }`)).errors;
    expect(await refused(`replaysConnection(after: "${endCursor}")`)).toMatchObject([
      { extensions: { code: 'unknown_cursor' } },
    ]);
    expect(await refused('deliveriesConnection(first: 101)')).toMatchObject([
      { extensions: { code: 'limit_out_of_range' } },
    ]);
    expect(await refused('deliveriesConnection(first: 1, last: 1)')).toMatchObject([
      { extensions: { code: 'invalid_parameter' } },
    ]);
  });

  test('a delivery shows its attempts and their answers', async ({ graphql, webhookId }) => {
    const { data, errors } = await graphql<{
      webhook: { delivery: { attemptsConnection: { nodes: readonly object[] } } };
    }>(`{
      webhook(id: ${webhookId}) { delivery(id: "${idOf(1)}") {
        id type subject cursor state attempts nextAt lastStatus lastError createdAt deliveredAt
        attemptsConnection { nodes {
          number at durationMs status error requestHeaders { name value } answer { headers { name value } text base64 truncated }
        } }
      } none: delivery(id: "${idOf(99)}") { id } nothing: delivery(id: "7") { id } }
    }`);
    expect(errors).toBeUndefined();
    const attempt = {
      at: '2026-01-01T00:00:10.000Z',
      durationMs: 41,
      status: 503,
      error: null,
      requestHeaders: [{ name: 'webhook-id', value: '1' }],
    };
    const answer = {
      headers: [{ name: 'retry-after', value: '5' }],
      text: null,
      base64: null,
      truncated: false,
    };
    const { attemptsConnection, ...delivery } = data.webhook.delivery;
    expect(data.webhook).toMatchObject({ none: null, nothing: null });
    expect(delivery).toEqual({
      id: idOf(1),
      type: 'article.edited',
      subject: 'article-8001',
      cursor: expect.stringMatching(/-1-00000001$/),
      state: 'due',
      attempts: 1,
      nextAt: '2026-01-02T00:00:00.000Z',
      lastStatus: 503,
      lastError: null,
      createdAt: '2026-01-01T00:00:01.000Z',
      deliveredAt: null,
    });
    expect(attemptsConnection.nodes).toEqual([
      { ...attempt, number: 4, status: null, error: 'The connection was refused.', answer: null },
      { ...attempt, number: 3, answer: { ...answer, base64: expect.any(String), truncated: true } },
      { ...attempt, number: 2, answer: { ...answer, base64: '//4=' } },
      { ...attempt, number: 1, answer: { ...answer, text: 'Too busy.' } },
    ]);
  });

  test('each webhook gets its own, however many are requested at once', async ({ backend, graphql }) => {
    const input = '{ url: "https://shop.example/2", eventTypes: ["*"] }';
    const { data } = await graphql<{ registerWebhook: { webhook: { id: string } } }>(
      `mutation { registerWebhook(input: ${input}) { webhook { id } } }`,
    );
    const { id } = data.registerWebhook.webhook;
    await backend.side.pool.query(
      `insert into webhook_ledger.delivery (webhook_id, event_id, position, type, subject) values ($1, $2, 9, 'a.b', 'a-1'), ($1, $3, 2, 'a.b', 'a-1')`,
      [id, idOf(9), idOf(2)],
    );
    const inner = `deliveriesConnection(first: 2) { nodes { id attemptsConnection(last: 1) { nodes { number } } } }`;
    expect(
      (
        await graphql(
          `{ webhooks(sort: CREATED_AT_ASC) { ${inner} replaysConnection(last: 1) { nodes { id } } } }`,
        )
      ).data,
    ).toEqual({
      webhooks: [
        {
          deliveriesConnection: {
            nodes: [5, 4].map((number) => ({ id: idOf(number), attemptsConnection: { nodes: [] } })),
          },
          replaysConnection: { nodes: [{ id: idOf(1) }] },
        },
        {
          deliveriesConnection: {
            nodes: [9, 2].map((number) => ({ id: idOf(number), attemptsConnection: { nodes: [] } })),
          },
          replaysConnection: { nodes: [] },
        },
      ],
    });
  });

  test('replays show their progress', async ({ graphql, webhookId }) => {
    const { data, errors } = await graphql(`{
      webhook(id: ${webhookId}) {
        replay(id: "${idOf(1)}") { id from since to at planned state requestedAt finishedAt }
        replaysConnection { nodes { id } }
      }
    }`);
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      webhook: {
        replay: {
          id: idOf(1),
          from: expect.stringMatching(/-3$/),
          since: null,
          to: expect.stringMatching(/-9$/),
          at: expect.stringMatching(/-5$/),
          planned: 0,
          state: 'running',
          requestedAt: '2026-01-01T00:00:00.000Z',
          finishedAt: null,
        },
        replaysConnection: { nodes: [{ id: idOf(2) }, { id: idOf(1) }] },
      },
    });
  });

  test('only an existing delivery can be sent again, by callers who manage the webhook', async ({
    backend,
    graphql,
    webhookId,
  }) => {
    const redeliver = (number: number, by?: Asker) =>
      graphql(
        `mutation { redeliver(webhookId: ${webhookId}, deliveryId: "${idOf(number)}") { cursor } }`,
        by,
      );
    expect((await redeliver(1)).errors).toBeUndefined();
    expect((await redeliver(99)).errors).toMatchObject([{ extensions: { code: 'delivery_not_found' } }]);
    expect((await redeliver(1, await backend.person('author'))).errors).toMatchObject([
      { extensions: { code: 'webhook_not_found' } },
    ]);
  });

  test('the number of concurrent replays is limited, and other callers do not learn it', async ({
    backend,
    graphql,
    webhookId,
  }) => {
    const replay = (by?: Asker) =>
      graphql(`mutation { replayWebhook(id: ${webhookId}, since: "2026-01-01T00:00:00.000Z") { id } }`, by);
    expect((await replay()).errors).toBeUndefined();
    await backend.side.pool.query(
      `insert into webhook_ledger.replay (id, webhook_id, to_position, at_position, requested_at)
       select gen_random_uuid(), $1, 9, 0, now() from generate_series(1, 8)`,
      [webhookId],
    );
    expect((await replay()).errors).toMatchObject([{ extensions: { code: 'too_many_replays' } }]);
    expect((await replay(await backend.person('author'))).errors).toMatchObject([
      { extensions: { code: 'webhook_not_found' } },
    ]);
  });
});

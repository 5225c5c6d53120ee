// Over 200 lines, because it is one list: every query and mutation about webhooks.
import { expect } from 'vitest';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { makeLedger } from '../../test/engines/filled-ledger.ts';
import { EVENT_SCOPES } from '../../test/engines/policy.ts';

const URL = 'https://shop.example/hooks';

type Answer = {
  readonly data: Record<string, unknown>;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
};

const test = base
  .extend('owner', { scope: 'file' }, ({ reader }) => reader)
  .extend('other', { scope: 'file' }, ({ stranger }) => stranger)
  .extend('graphql', { scope: 'file' }, ({ backend, owner }) => async (query: string, by: Asker = owner) => {
    return (await backend.ask('/graphql', { by, method: 'POST', body: { query } })).body as Answer;
  })
  .extend('dataOf', { scope: 'file' }, ({ graphql }) => async <Data>(query: string, by?: Asker) => {
    const { data, errors } = await graphql(query, by);
    expect(errors).toBeUndefined();
    return data as Data;
  })
  .extend('registerByGraphql', { scope: 'file' }, ({ dataOf }) => async (by?: Asker): Promise<string> => {
    return (
      await dataOf<{ registerWebhook: { webhook: { id: string } } }>(
        `mutation { ${REGISTER} { webhook { id } } }`,
        by,
      )
    ).registerWebhook.webhook.id;
  });

const REGISTER = `registerWebhook(input: {
  url: "${URL}", eventTypes: ["article.published"], ratePerSecond: 5, headers: [{ name: "X-Team", value: "blue" }]
})`;
test('a webhook is registered, changed, disabled, enabled and deleted', async ({ dataOf, owner }) => {
  const fields =
    'id url description payload format ratePerSecond concurrency headerNames scopes enabled disabledReason owner { id }';
  const { registerWebhook } = await dataOf<{ registerWebhook: { secret: string; webhook: { id: string } } }>(
    `mutation { ${REGISTER} { secret webhook { ${fields} } } }`,
  );
  const { secret, webhook } = registerWebhook;
  expect(secret).toMatch(/^whsec_/);
  const registered = {
    id: webhook.id,
    url: URL,
    description: null,
    payload: 'thin',
    format: 'annals',
    ratePerSecond: 5,
    concurrency: 10,
    headerNames: ['X-Team'],
    scopes: EVENT_SCOPES,
    enabled: true,
    disabledReason: null,
    owner: { id: String(owner.id) },
  };
  expect(webhook).toEqual(registered);
  const changes =
    '{ payload: full, format: cloudevents_binary, concurrency: 3, headers: [{ name: "X-Team", value: null }, { name: "X-Other", value: "red" }] }';
  const changed = {
    ...{ ...registered, payload: 'full', format: 'cloudevents_binary' },
    ...{ concurrency: 3, headerNames: ['X-Other'] },
  };
  expect(
    await dataOf(`mutation { editWebhook(id: ${webhook.id}, changes: ${changes}) { ${fields} } }`),
  ).toEqual({
    editWebhook: changed,
  });
  expect(await dataOf(`mutation { disableWebhook(id: ${webhook.id}) { enabled disabledReason } }`)).toEqual({
    disableWebhook: { enabled: false, disabledReason: 'owner' },
  });
  expect(await dataOf(`mutation { enableWebhook(id: ${webhook.id}) { enabled } }`)).toEqual({
    enableWebhook: { enabled: true },
  });
  const { rotateWebhookSecret } = await dataOf<{ rotateWebhookSecret: { secret: string } }>(
    `mutation { rotateWebhookSecret(id: ${webhook.id}) { secret webhook { secretsEndAt } } }`,
  );
  expect(rotateWebhookSecret).toEqual({
    secret: expect.not.stringContaining(secret),
    webhook: { secretsEndAt: expect.any(String) },
  });
  expect(await dataOf(`mutation { deleteWebhook(id: ${webhook.id}) }`)).toEqual({
    deleteWebhook: webhook.id,
  });
  expect(await dataOf(`{ webhook(id: ${webhook.id}) { id } node(id: ${webhook.id}) { id } }`)).toEqual({
    webhook: null,
    node: null,
  });
});

test('a refusal names the field as REST does', async ({ graphql }) => {
  const refused = (pointer: string) => [{ extensions: { code: 'invalid_request', errors: [{ pointer }] } }];
  const address = await graphql(
    `mutation { registerWebhook(input: { url: "ftp://x", eventTypes: ["*"] }) { secret } }`,
  );
  expect(address.errors).toMatchObject(refused('/url'));
  const types = await graphql(
    `mutation { registerWebhook(input: { url: "https://example.com", eventTypes: ["article.nothing"] }) { secret } }`,
  );
  expect(types.errors).toMatchObject(refused('/eventTypes'));
});

test('its owner finds it by id, as a node, in lists, and through the user; others find nothing', async ({
  admin,
  backend,
  dataOf,
  other,
  registerByGraphql,
}) => {
  const person = await backend.person('author');
  const id = await registerByGraphql(person);
  const query = `{
      webhook(id: ${id}) { id } node(id: ${id}) { __typename id ... on Webhook { url } }
      webhooks { id } webhooksConnection(filter: { enabled: true }) { totalCount edges { cursor node { id } } }
      user(id: ${person.id}) { webhooks { id } webhooksConnection { nodes { id } } }
    }`;
  const found = await dataOf<{ webhooksConnection: { edges: [{ cursor: string }] } }>(query, person);
  expect(found).toEqual({
    webhook: { id },
    node: { __typename: 'Webhook', id, url: URL },
    webhooks: [{ id }],
    webhooksConnection: { totalCount: 1, edges: [{ cursor: expect.any(String), node: { id } }] },
    user: { webhooks: [{ id }], webhooksConnection: { nodes: [{ id }] } },
  });
  const { cursor } = found.webhooksConnection.edges[0];
  expect(await dataOf(`{ webhooksConnection(after: "${cursor}") { nodes { id } } }`, person)).toEqual({
    webhooksConnection: { nodes: [] },
  });
  expect(await dataOf(`{ user(id: ${person.id}) { webhooks { id } } }`, admin)).toEqual({
    user: { webhooks: [{ id }] },
  });
  expect(await dataOf(query, other)).toMatchObject({ webhook: null, node: null, user: { webhooks: [] } });
  // One statement, like everything that the planner covers.
  expect(await dataOf(`{ node(id: ${id}) { id } }`, person)).toEqual({ node: { id } });
  expect(await dataOf(`{ node(id: ${id}) { id } }`, other)).toEqual({ node: null });
});

test('requests return their cursor, and are refused for a disabled webhook', async ({
  backend,
  dataOf,
  graphql,
  registerByGraphql,
}) => {
  const id = await registerByGraphql();
  await makeLedger(backend.side.pool);
  for (const request of ['testWebhook', 'redriveWebhook'])
    expect(await dataOf(`mutation { ${request}(id: ${id}) { cursor webhook { id } } }`)).toEqual({
      [request]: { cursor: expect.stringMatching(/^[0-9a-f]{8}-/), webhook: { id } },
    });
  const replay = (span: string) => graphql(`mutation { replayWebhook(id: ${id}, ${span}) { cursor } }`);
  expect((await replay('since: "2026-01-01T00:00:00.000Z"')).errors).toBeUndefined();
  expect((await replay('since: "2026-01-01T00:00:00.000Z", from: "x"')).errors).toMatchObject([
    { extensions: { code: 'invalid_parameter' } },
  ]);
  const redeliver = (deliveryId: string) =>
    graphql(`mutation { redeliver(webhookId: ${id}, deliveryId: "${deliveryId}") { cursor } }`);
  expect((await redeliver('7')).errors).toMatchObject([{ extensions: { code: 'delivery_not_found' } }]);
  await dataOf(`mutation { disableWebhook(id: ${id}) { id } }`);
  expect((await graphql(`mutation { testWebhook(id: ${id}) { cursor } }`)).errors).toMatchObject([
    { extensions: { code: 'webhook_disabled' } },
  ]);
});

test('the types of events are public', async ({ backend }) => {
  const query = { query: '{ eventTypes { type version description schema example personalFields } }' };
  const { status, body } = await backend.ask('/graphql', { method: 'POST', body: query });
  const { data } = body as { data: { eventTypes: readonly object[] } };
  expect(status).toBe(200);
  const byRest = (await backend.ask('/event-types')).body as readonly { readonly _links: object }[];
  expect(data.eventTypes).toEqual(byRest.map(({ _links, ...type }) => type));
});

test('both interfaces name withheld events, and refuse types that could never be delivered', async ({
  backend,
  dataOf,
  other,
}) => {
  const by: Asker = { ...other, scopes: ['manage:webhooks'] };
  const input =
    '{ url: "https://shop.example/hooks", eventTypes: ["article.*", "article.published", "session.*"] }';
  const withheld = [
    {
      eventType: 'article.*',
      scope: 'read:articles',
      reason: expect.stringMatching(/^Only partly sent: /),
    },
    {
      eventType: 'session.*',
      scope: 'read:users',
      reason: expect.stringMatching(/^Not sent: /),
    },
  ];
  type Registered = { readonly registerWebhook: { readonly webhook: { readonly id: string } } };
  const registering = `mutation { registerWebhook(input: ${input}) { webhook { id withheld { eventType scope reason } } } }`;
  const { registerWebhook } = await dataOf<Registered>(registering, by);
  expect(registerWebhook.webhook).toMatchObject({ withheld });
  const { id } = registerWebhook.webhook;
  const shown = await backend.ask(`/webhooks/${id}`, { by });
  expect(shown.body).toMatchObject({ withheld });
  const refused = {
    status: 422,
    body: {
      errors: [
        {
          pointer: '/eventTypes',
          detail: 'None of these events could be delivered: the token lacks the scope read:users.',
        },
      ],
    },
  };
  const body = { url: URL, eventTypes: ['session.*'] };
  expect(await backend.ask('/webhooks', { by, method: 'POST', body })).toMatchObject(refused);
  const patch = { by, method: 'PATCH', body: { eventTypes: ['session.*'] } };
  expect(await backend.ask(`/webhooks/${id}`, patch)).toMatchObject(refused);
  expect((await backend.ask('/webhooks', { by: other, method: 'POST', body })).status).toBe(201);
});

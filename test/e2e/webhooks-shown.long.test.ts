import { expect } from 'vitest';
import type { Link } from '#kernel/base/rest/fields.ts';
import type { Delivery } from '#shared/rest/delivery.ts';
import type { Webhook } from '#shared/rest/webhook.ts';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import { until } from '../../testing/until.ts';
import { sharedTest } from '../engines/installation-fixture.ts';

/** Webhooks as REST and GraphQL show them. */

type Registered = { readonly secret: string; readonly webhook: { readonly id: string } };

const test = sharedTest
  .extend(
    'run',
    { scope: 'file' },
    ({ ada, graphql }) =>
      async <Data>(query: string, headers: Record<string, string> = {}): Promise<Data> => {
        const { data, errors } = await graphql<Data>(query, { token: ada.token, headers });
        expect(errors).toBeUndefined();
        return data;
      },
  )
  .extend('read', { scope: 'file' }, ({ ada, session }) => async <Body>(path: string) => {
    return (await session.read<Body>(path, { token: ada.token })).body;
  })
  .extend(
    'register',
    { scope: 'file' },
    ({ run, sink }) =>
      async (headers?: Record<string, string>): Promise<Registered> => {
        const input = `{ url: "${sink.url}/hook", eventTypes: ["webhook.test_requested"], description: "The shop" }`;
        const mutation = `mutation { registerWebhook(input: ${input}) { secret webhook { id } } }`;
        return (await run<{ registerWebhook: Registered }>(mutation, headers)).registerWebhook;
      },
  );

test('a secret is returned again only to the same request with the same key', async ({
  ada,
  ask,
  register,
  run,
  sink,
}) => {
  const key = { 'idempotency-key': 'register-1' };
  const first = await register(key);
  expect(await register(key)).toEqual(first);
  expect((await register()).secret).not.toBe(first.secret);

  const body = { url: `${sink.url}/hook`, eventTypes: ['article.*'] };
  const send = () =>
    ask('POST', '/webhooks', { token: ada.token, body, headers: { 'idempotency-key': 'register-2' } });
  const written = await send();
  const answers = [written, await send()].map(({ status, body: given }) => ({
    status,
    answer: given as { readonly id?: number },
  }));
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[0]).toMatchObject({ status: 201, answer: { secret: expect.stringMatching(/^whsec_/) } });
  const { id } = answers[0]?.answer ?? {};
  const token = { 'consistency-token': written.headers.get('consistency-token') ?? '' };
  expect(await run(`{ webhook(id: ${id}) { url enabled } }`, token)).toEqual({
    webhook: { url: body.url, enabled: true },
  });
});

test('both interfaces show the same health of a webhook that has received something', async ({
  read,
  register,
  run,
}) => {
  const { webhook } = await register();
  await run(`mutation { testWebhook(id: ${webhook.id}) { cursor } }`);
  await until(
    () => read<Delivery[]>(`/webhooks/${webhook.id}/deliveries`),
    ([latest]) => latest?.state === 'delivered',
  );
  const { health } = await read<Webhook>(`/webhooks/${webhook.id}`);
  expect(health).toMatchObject({ lastSuccessAt: expect.any(String), failingSince: null });
  const fields = `lastSuccessAt lastFailure { at status reason } failingSince failuresInRow pausedUntil
    nextAttemptAt attemptsLastDay failuresLastDay successRate backlog { due oldestAt dead }`;
  expect(await run(`{ webhook(id: ${webhook.id}) { health { ${fields} } } }`)).toEqual({
    webhook: { health },
  });
});

test('every link can be followed, and every linked action can be taken', async ({
  ada,
  read,
  register,
  run,
  session,
}) => {
  const { webhook } = await register();
  const self = `/webhooks/${webhook.id}`;
  await run(`mutation { testWebhook(id: ${webhook.id}) { cursor } }`);
  const [delivery] = await until(
    () => read<Delivery[]>(`${self}/deliveries`),
    ({ length }) => length === 1,
  );
  const follow = async (links: Readonly<Record<string, Link>>) => {
    const bodies: Readonly<Record<string, object>> = {
      edit: { description: null },
      replay: { from: '2026-01-01T00:00:00Z' },
    };
    for (const [name, { href, method = 'GET' }] of Object.entries(links)) {
      if (name === 'delete' || name === 'disable') continue;
      const asked = { token: ada.token, ...(bodies[name] && { body: bodies[name] }) };
      const { status } =
        method === 'GET' ? await session.read(href, asked) : await session.write(method, href, asked);
      expect([name, status]).toEqual([name, expect.toBeOneOf([200, 202])]);
    }
  };
  await follow(delivery?._links ?? {});
  await follow((await read<Webhook>(self))._links);
  // Actions that would end the others come last.
  await session.write('POST', `${self}/disable`, { token: ada.token });
  const disabled = await read<Webhook>(self);
  expect(Object.keys(disabled._links)).not.toEqual(
    expect.arrayContaining(['test', 'replay', 'redrive', 'disable']),
  );
  expect((await read<Delivery>(`${self}/deliveries/${delivery?.id}`))._links).not.toHaveProperty('redeliver');
  await follow(disabled._links);
  expect(await read<Webhook>(self)).toMatchObject({ enabled: true });
});

test('a subscription reports the changes of a webhook, with its current state', async ({
  ada,
  installation,
  register,
  run,
}) => {
  const { webhook } = await register();
  const query =
    'subscription { changes(types: ["webhook.disabled"]) { type subjectId webhook { id enabled disabledReason } } }';
  await using stream = await streamOf(installation, query, { token: ada.token });
  await run(`mutation { disableWebhook(id: ${webhook.id}) { id } }`);
  const [result] = await stream.results(1);
  expect(result?.data).toEqual({
    changes: {
      type: 'webhook.disabled',
      subjectId: webhook.id,
      webhook: { id: webhook.id, enabled: false, disabledReason: 'owner' },
    },
  });
});

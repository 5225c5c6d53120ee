import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import { webhookOf } from '#shared/rest/webhook.ts';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { EVENT_SCOPES, SCOPES } from '../../test/engines/policy.ts';
import { linkIn } from '../../test/links.ts';

const URL = 'https://shop.example/hooks';

type Body = {
  readonly id: number;
  readonly secret?: string;
  readonly _links: Readonly<Record<string, Link>>;
};

const test = base
  .extend('owner', { scope: 'file' }, ({ reader }) => reader)
  .extend('other', { scope: 'file' }, ({ stranger }) => stranger)
  .extend('register', { scope: 'file' }, ({ backend }) => async (by: Asker, more: object = {}) => {
    const body = { url: URL, eventTypes: ['article.*'], ...more };
    const reply = await backend.ask('/webhooks', { by, method: 'POST', body });
    expect(reply).toMatchObject({ status: 201, body: { secret: expect.stringMatching(/^whsec_/) } });
    return (reply.body as Body).id;
  })
  .extend('get', { scope: 'file' }, ({ backend, owner }) => async (id: number, by: Asker = owner) => {
    return backend.ask(`/webhooks/${id}`, { by });
  })
  .extend('act', { scope: 'file' }, ({ backend, owner }) => async (id: number, action: string) => {
    return backend.ask(`/webhooks/${id}/${action}`, { by: owner, method: 'POST' });
  })
  .extend('idsOf', { scope: 'file' }, ({ backend }) => async (path: string, by: Asker) => {
    return ((await backend.ask(path, { by })).body as readonly Body[]).map(({ id }) => id);
  });

test('a webhook is shown as it was registered, without its secrets', async ({
  get,
  other,
  owner,
  register,
}) => {
  const given = {
    description: 'The shop',
    filter: { authorId: other.id },
    payload: 'full',
    format: 'cloudevents_binary',
    ordered: true,
    limits: { ratePerSecond: 5, concurrency: 2 },
    headers: { 'X-Team': 'blue' },
  };
  const id = await register(owner, given);
  const { status, headers, body } = await get(id);
  expect(status).toBe(200);
  expect(headers.get('cache-control')).toMatch(/^private/);
  expect(webhookOf(publishing).parse(body)).toEqual(body);
  expect(body).toMatchObject({
    ...given,
    headers: { 'X-Team': '********' },
    id,
    ownerId: owner.id,
    url: URL,
    eventTypes: ['article.*'],
    scopes: EVENT_SCOPES,
    enabled: true,
    status: 'enabled',
  });
  expect(JSON.stringify(body)).not.toMatch(/whsec_|blue/);
});

test('a PUT of what GET returned changes nothing', async ({ backend, get, owner, register }) => {
  const id = await register(owner, { headers: { 'X-Team': 'blue' } });
  const { body, headers } = await get(id);
  const put = await backend.ask(`/webhooks/${id}`, { by: owner, method: 'PUT', body });
  expect(put.status).toBe(200);
  expect((await get(id)).headers.get('etag')).toBe(headers.get('etag'));
});

test('its links match its state', async ({ act, get, owner, register }) => {
  const id = await register(owner);
  const actions = async () => {
    const { _links } = (await get(id)).body as Body;
    return Object.keys(_links).filter((name) => _links[name]?.method === 'POST');
  };
  expect((await actions()).toSorted()).toEqual(['disable', 'redrive', 'replay', 'rotate-secret', 'test']);
  expect((await act(id, 'disable')).status).toBe(200);
  expect((await actions()).toSorted()).toEqual(['enable', 'rotate-secret']);
  expect((await get(id)).body).toMatchObject({ enabled: false, status: 'disabled', disabledReason: 'owner' });
  expect((await act(id, 'enable')).status).toBe(200);
  expect((await get(id)).body).toMatchObject({ enabled: true, status: 'enabled' });
});

test('a new secret is shown once, with the end of the previous one', async ({
  act,
  get,
  owner,
  register,
}) => {
  const id = await register(owner);
  const rotated = await act(id, 'rotate-secret');
  expect(rotated).toMatchObject({ status: 200, body: { id, secret: expect.stringMatching(/^whsec_/) } });
  expect((await get(id)).body).toMatchObject({ secretsEndAt: expect.any(String) });
});

test('only its owner and administrators see it', async ({ admin, backend, get, other, owner, register }) => {
  const id = await register(owner);
  expect((await get(id, admin)).status).toBe(200);
  expect(await get(id, other)).toMatchObject({ status: 404, body: { code: 'webhook_not_found' } });
  expect(await backend.ask(`/webhooks/${id}`)).toMatchObject({ status: 401 });
  const scopes = SCOPES.filter((scope) => scope !== 'manage:webhooks');
  expect(await get(id, { ...owner, scopes })).toMatchObject({
    status: 403,
    body: { details: { scope: 'manage:webhooks' } },
  });
  await backend.ask(`/webhooks/${id}`, { by: owner, method: 'DELETE' });
  expect(await get(id)).toMatchObject({ status: 404, body: { code: 'webhook_not_found' } });
});

test('lists have the caller’s own, paged and filtered; those of administrators have all', async ({
  admin,
  backend,
  idsOf,
  other,
  register,
}) => {
  const person = await backend.person('reader');
  const ids = [await register(person), await register(person, { enabled: false }), await register(person)];
  const latestFirst = ids.toReversed();
  expect(await idsOf('/webhooks', person)).toEqual(latestFirst);
  expect(await idsOf('/webhooks?sort=createdAt&limit=2', person)).toEqual(ids.slice(0, 2));
  expect(await idsOf('/webhooks?enabled=false', person)).toEqual([ids[1]]);
  expect(await idsOf(`/webhooks?owner=${person.id}`, person)).toEqual(latestFirst);
  expect(await idsOf(`/webhooks?owner=${person.id}`, other)).toEqual([]);
  expect(await idsOf(`/webhooks?owner=${person.id}`, admin)).toEqual(latestFirst);
  expect((await idsOf('/webhooks?limit=100', admin)).slice(0, 3)).toEqual(latestFirst);
  const page = await backend.ask('/webhooks?enabled=true&limit=1', { by: person });
  const next = linkIn(page.headers) ?? '';
  expect(await idsOf(next, person)).toEqual([ids[0]]);
});

test('GET /event-types is the same for all callers, and revalidates with 304', async ({ backend, owner }) => {
  const { status, headers, body } = await backend.ask('/event-types');
  expect([status, headers.get('cache-control')]).toEqual([200, 'public, no-cache']);
  expect(await backend.ask('/event-types', { by: { ...owner, scopes: [] } })).toMatchObject({
    status: 200,
    body,
  });
  const again = await backend.ask('/event-types', {
    headers: { 'if-none-match': headers.get('etag') ?? '' },
  });
  expect(again.status).toBe(304);
});

test('a parked webhook answers 503', async ({ backend, get, owner, register }) => {
  const { pool } = backend.side;
  const id = await register(owner);
  await get(id);
  await pool.query('delete from read_model.webhooks where id = $1', [id]);
  const stream = `webhook-${id}`;
  await pool.query(
    `insert into read_model.parked (stream, version, position, type, reason) values ($1, 1, 1, 'test', 'test')`,
    [stream],
  );
  try {
    expect(await get(id)).toMatchObject({ status: 503, body: { code: 'parked' } });
    const query = { query: `{ webhook(id: ${id}) { url } }` };
    const { body } = await backend.ask('/graphql', { by: owner, method: 'POST', body: query });
    expect(body).toMatchObject({ errors: [{ extensions: { code: 'parked' } }] });
  } finally {
    await pool.query('delete from read_model.parked');
  }
});

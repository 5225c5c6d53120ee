// Over 200 lines, because it is one list: the requests about clients, with each refusal.
import { describe, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { StreamName } from '#kernel/base/brands.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import { clientOperations } from '#shared/rest/clients.ts';
import { MANAGER, SERVICE, test, WEB } from '../../test/engines/client-api.ts';
import { linkIn } from '../../test/links.ts';
import { clientRoutes } from './routes.ts';

const CLIENT_OPERATIONS = clientOperations(publishing);
const OPERATIONS = Object.values(CLIENT_OPERATIONS).map(
  ({ method, path }) => [method, path.replace('{clientId}', 'any')] as const,
);

test('every route is described, and no other', ({ api }) => {
  const { clients, keyedWrites } = api;
  const { stack } = clientRoutes({ domain: publishing, clients, keyedWrites, bodyBytesMax: 1 });
  const served = stack.flatMap(({ route }) => {
    const methods = (route as { methods?: Readonly<Record<string, boolean>> } | undefined)?.methods ?? {};
    return Object.keys(methods).flatMap((method) =>
      method === '_all' ? [] : [`${method.toUpperCase()} ${route?.path}`],
    );
  });
  expect(served.toSorted()).toEqual(
    Object.values(CLIENT_OPERATIONS)
      .map((operation) => `${operation.method} ${routeOf(operation)}`)
      .toSorted(),
  );
});

describe.each(OPERATIONS)('%s %s', (method, path) => {
  test.for<[string, Record<string, unknown> | null, number, string]>([
    ['anonymous', null, 401, 'unauthenticated'],
    ['a reader', { ...MANAGER, role: 'reader' }, 403, 'forbidden'],
    ['an author', { ...MANAGER, role: 'author' }, 403, 'forbidden'],
    [
      'an administrator without the scope',
      { ...MANAGER, scope: 'read:users write:users manage:webhooks' },
      403,
      'insufficient_scope',
    ],
  ])('is not for %s', async ([_, claims, status, code], { send }) => {
    const answer = await send(method, path, { claims });
    expect(answer).toMatchObject({ status, body: { code } });
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    if (status === 401 || code === 'insufficient_scope')
      expect(answer.headers.get('www-authenticate')).toContain('resource_metadata="');
  });
});

describe('POST /clients', () => {
  test('registers a client and shows its secret only this once', async ({ eventsOf, send, api }) => {
    const { status, headers, body } = await send('POST', '/clients', {
      body: { ...SERVICE, clientId: 'importer' },
    });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe('/clients/importer');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({
      clientId: 'importer',
      name: 'Importer',
      secret: expect.stringMatching(/^annals_secret_/),
      firstParty: false,
    });
    const shown = await send('GET', '/clients/importer');
    expect(shown.headers.get('etag')).toBe(headers.get('etag'));
    expect(JSON.stringify(shown.body)).not.toContain(String(body.secret));
    expect(shown.body).not.toHaveProperty('secret');
    expect(JSON.stringify(shown.body)).not.toContain('ecretHash');
    expect(await api.clients.verifySecret('importer', String(body.secret))).toBe(true);
    expect(await api.clients.verifySecret('importer', `${body.secret}x`)).toBe(false);
    expect(await api.clients.verifySecret('nobody', String(body.secret))).toBe(false);
    expect(await eventsOf('importer')).toEqual([
      {
        type: 'client.registered',
        data: { clientId: 'importer', selfRegistered: false },
        actor: 'user:7001',
      },
    ]);
  });

  test('gives a service a user of its own with the requested role, registered by the system', async ({
    create,
    api,
  }) => {
    const { serviceAccount } = await create({ ...SERVICE, serviceAccountRole: 'author' });
    const events = [];
    for await (const page of api.side.eventLog.read(`user-${serviceAccount}` as StreamName))
      events.push(...(await api.side.codec.decodeAll(page)));
    expect(events).toMatchObject([
      {
        type: 'user.registered',
        data: { name: 'Importer', role: 'author', email: null },
        metadata: { actor: 'system:clients' },
      },
    ]);
  });

  test('gives a public client neither secret nor user', async ({ create }) => {
    const made = await create(WEB);
    expect(made).toMatchObject({ serviceAccount: null, tokenEndpointAuthMethod: 'none' });
    expect(made).not.toHaveProperty('secret');
  });

  test('refuses a taken id', async ({ create, send }) => {
    await create({ ...WEB, clientId: 'taken' });
    expect(await send('POST', '/clients', { body: { ...WEB, clientId: 'taken' } })).toMatchObject({
      status: 409,
      body: { code: 'client_id_taken' },
    });
  });

  test.for<[string, unknown, string]>([
    ['a bad id', { ...WEB, clientId: 'Not good' }, '/clientId'],
    ['a bad redirect', { ...WEB, redirectUris: ['http://app.example/callback'] }, '/redirectUris/0'],
    ['a field that there is not', { ...WEB, secretHash: 'x' }, '/secretHash'],
    ['a service account of one’s choice', { ...SERVICE, serviceAccount: 1 }, '/serviceAccount'],
    ['a list', [], ''],
  ])('%s is refused with its pointer', async ([_, body, pointer], { send }) => {
    const answer = await send('POST', '/clients', { body });
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_request', errors: [{ pointer }] } });
  });

  test('refuses a form', async ({ send }) => {
    const answer = await send('POST', '/clients', {
      body: WEB,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });

  test('does nothing if it cannot answer', async ({ send, api }) => {
    const answer = await send('POST', '/clients', {
      body: { ...WEB, clientId: 'unanswerable' },
      headers: { Accept: 'text/html' },
    });
    expect(answer.status).toBe(406);
    expect(await api.clients.find('unanswerable')).toBeUndefined();
  });
});

describe('while nobody can read when clients were used', () => {
  test.beforeAll(({ api }) => api.side.pool.query('alter table auth.client_use rename to unreadable'));
  test.afterAll(({ api }) => api.side.pool.query('alter table auth.unreadable rename to client_use'));

  test('a new client’s secret is shown anyway', async ({ create, api }) => {
    const { clientId, secret } = await create(SERVICE);
    expect(await api.clients.verifySecret(clientId, secret)).toBe(true);
  });

  test.for<[string, string, string, object?]>([
    ['POST', '/secret', 'client_secret_post'],
    ['PUT', '', 'none', { ...SERVICE, tokenEndpointAuthMethod: 'client_secret_basic' }],
    ['PATCH', '', 'none', { tokenEndpointAuthMethod: 'client_secret_basic' }],
  ])(
    '%s of “%s” leaves the client as it was',
    async ([method, suffix, tokenEndpointAuthMethod, body], { create, send, api }) => {
      const { clientId } = await create({ ...WEB, tokenEndpointAuthMethod });
      const before = await api.clients.find(clientId);
      expect(await send(method, `/clients/${clientId}${suffix}`, { body })).toMatchObject({ status: 500 });
      expect(await api.clients.list('', 1_000)).toContainEqual(before);
    },
  );
});

describe('GET', () => {
  test('of an unknown client is 404', async ({ send }) => {
    expect(await send('GET', '/clients/nobody')).toMatchObject({
      status: 404,
      body: { code: 'client_not_found' },
    });
  });

  test('of a current representation is 304', async ({ create, send }) => {
    const { clientId } = await create(WEB);
    const { headers } = await send('GET', `/clients/${clientId}`);
    const again = await send('GET', `/clients/${clientId}`, {
      headers: { 'If-None-Match': `W/${headers.get('etag')}` },
    });
    expect(again).toMatchObject({ status: 304, body: null });
    expect(headers.get('cache-control')).toBe('private, no-cache');
  });

  test('of the list visits every client once across all pages', async ({ create, send }) => {
    for (let each = 0; each < 5; each += 1) await create(WEB);
    const seen: string[] = [];
    for (let path: string | undefined = '/clients?limit=2'; path !== undefined; ) {
      const { body, headers } = await send('GET', path);
      const items = body as unknown as { clientId: string }[];
      expect(items.length).toBeLessThanOrEqual(2);
      seen.push(...items.map(({ clientId }) => clientId));
      path = linkIn(headers);
    }
    expect(seen.length).toBeGreaterThanOrEqual(5);
    expect(seen).toEqual([...new Set(seen)].toSorted());
  });

  test.for(['limit=0', 'limit=101', 'limit=x', 'after=!'])(
    'of the list with %s is refused',
    async (query, { send }) => {
      expect(await send('GET', `/clients?${query}`)).toMatchObject({ status: 422 });
    },
  );

  test.for(['PUT', 'DELETE'])('%s of the list is 405', async (method, { send }) => {
    const { status, headers } = await send(method, '/clients');
    expect({ status, allow: headers.get('allow') }).toEqual({
      status: 405,
      allow: 'GET, HEAD, POST, OPTIONS',
    });
  });
});

test('the address of a document is the id of a disabled client alone, which can be deleted', async ({
  send,
}) => {
  const clientId = 'https://agent.example/client.json';
  expect(await send('POST', '/clients', { body: { ...WEB, clientId } })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '/disabled' }] },
  });
  const made = await send('POST', '/clients', { body: { ...WEB, clientId, disabled: true } });
  const path = `/clients/${encodeURIComponent(clientId)}`;
  expect([made.status, made.headers.get('location')]).toEqual([201, path]);
  expect(await send('GET', path)).toMatchObject({ status: 200, body: { clientId, disabled: true } });
  expect((await send('DELETE', path)).status).toBe(204);
});

// Over 200 lines, because every case uses the one set of clients that is made here.
import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { StreamName } from '#kernel/base/brands.ts';
import { type ClientApi, SERVICE, type Send, test, WEB } from '../../test/engines/client-api.ts';
import { by as contextOf, system } from '../../test/engines/command-side.ts';
import { readSeenRevocations } from '../../test/engines/read-seen-revocations.ts';
import { until } from '../../testing/until.ts';

describe('a change', () => {
  test('by PATCH changes the named fields, by PUT all of them', async ({ create, eventsOf, send }) => {
    const { clientId } = await create({ ...WEB, firstParty: true, scopes: ['read:articles'] });
    const patched = await send('PATCH', `/clients/${clientId}`, { body: { name: 'Web 2' } });
    expect(patched).toMatchObject({
      status: 200,
      body: { name: 'Web 2', firstParty: true, scopes: ['read:articles'] },
    });
    const put = await send('PUT', `/clients/${clientId}`, {
      body: { ...patched.body, firstParty: undefined },
    });
    expect(put).toMatchObject({
      status: 200,
      body: { name: 'Web 2', firstParty: false, scopes: ['read:articles'] },
    });
    expect(await eventsOf(clientId)).toMatchObject([
      { type: 'client.registered' },
      { type: 'client.changed', data: { changed: ['name'] } },
      { type: 'client.changed', data: { changed: ['firstParty'] } },
    ]);
  });

  test('without an effect is not recorded', async ({ create, eventsOf, send }) => {
    const { clientId } = await create(WEB);
    const before = await send('GET', `/clients/${clientId}`);
    const { status, headers } = await send('PATCH', `/clients/${clientId}`, { body: { name: 'Web' } });
    expect({ status, etag: headers.get('etag') }).toEqual({ status: 200, etag: before.headers.get('etag') });
    expect(await eventsOf(clientId)).toHaveLength(1);
  });

  test.for(['PATCH', 'PUT', 'DELETE'])(
    '%s of another version than was seen is refused',
    async (method, { create, send }) => {
      const { clientId } = await create(WEB);
      const { headers } = await send('GET', `/clients/${clientId}`);
      const seen = { 'If-Match': headers.get('etag') ?? '' };
      await send('PATCH', `/clients/${clientId}`, { body: { name: 'Meanwhile' } });
      const body = method === 'DELETE' ? undefined : WEB;
      expect(await send(method, `/clients/${clientId}`, { body, headers: seen })).toMatchObject({
        status: 412,
        body: { code: 'version_mismatch' },
      });
      expect(
        await send(method, `/clients/${clientId}`, { body, headers: { 'If-Match': '"someone-elses"' } }),
      ).toMatchObject({ status: 412 });
      expect(
        await send(method, `/clients/${clientId}`, { body, headers: { 'If-Match': 'x' } }),
      ).toMatchObject({
        status: 400,
      });
    },
  );

  test('succeeds with the current version, even if a proxy has weakened the tag', async ({
    create,
    send,
  }) => {
    const { clientId } = await create(WEB);
    const { headers } = await send('GET', `/clients/${clientId}`);
    const answer = await send('PATCH', `/clients/${clientId}`, {
      body: { name: 'New' },
      headers: { 'If-Match': `W/${headers.get('etag')}` },
    });
    expect(answer.status).toBe(200);
  });

  test.for<[string, object, number]>([
    ['to what does not fit together', { redirectUris: [] }, 422],
    ['of a field that there is not', { secretHash: 'x' }, 422],
  ])('%s is refused and nothing happens', async ([_, body, status], { create, eventsOf, send }) => {
    const { clientId } = await create(WEB);
    expect(await send('PATCH', `/clients/${clientId}`, { body })).toMatchObject({ status });
    expect(await eventsOf(clientId)).toHaveLength(1);
  });

  test('that removes scopes also removes them from the default ones, unless it names those', async ({
    create,
    send,
  }) => {
    const scopes = ['read:articles', 'write:articles'];
    const { clientId } = await create({ ...WEB, scopes });
    const patch = async (body: object) => (await send('PATCH', `/clients/${clientId}`, { body })).body;
    expect(await patch({ name: 'Other' })).toMatchObject({ scopes, defaultScopes: scopes });
    expect(await patch({ scopes: ['read:articles'] })).toMatchObject({
      scopes: ['read:articles'],
      defaultScopes: ['read:articles'],
    });
    expect(await patch({ scopes })).toMatchObject({ scopes, defaultScopes: ['read:articles'] });
    expect(await patch({ defaultScopes: [] })).toMatchObject({ scopes, defaultScopes: [] });
    expect(await patch({ scopes: ['read:articles'], defaultScopes: scopes })).toMatchObject({ status: 422 });
  });

  test('of a service account’s role is made at the user, not here', async ({ create, send }) => {
    const { clientId } = await create(SERVICE);
    expect(
      await send('PATCH', `/clients/${clientId}`, { body: { serviceAccountRole: 'admin' } }),
    ).toMatchObject({ status: 422 });
  });

  test('of an unknown client is 404', async ({ send }) => {
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      expect(
        await send(method, '/clients/nobody', { body: method === 'DELETE' ? undefined : WEB }),
      ).toMatchObject({ status: 404 });
    }
    expect(await send('POST', '/clients/nobody/secret')).toMatchObject({ status: 404 });
  });
});

describe('tokens of a client', () => {
  const isGood = async ({ server }: ClientApi, token: string) =>
    (await fetch(`${server.url}/me`, { headers: { Authorization: `Bearer ${token}` } })).status === 200;

  test.for<[string, boolean, (send: Send, clientId: string) => Promise<unknown>]>([
    ['end with the client', true, (send, clientId) => send('DELETE', `/clients/${clientId}`)],
    [
      'end when it is disabled',
      true,
      (send, clientId) => send('PATCH', `/clients/${clientId}`, { body: { disabled: true } }),
    ],
    [
      'end with a scope of it',
      true,
      (send, clientId) => send('PATCH', `/clients/${clientId}`, { body: { scopes: ['read:articles'] } }),
    ],
    ['end with its secret', true, (send, clientId) => send('POST', `/clients/${clientId}/secret`)],
    [
      'end when it must prove its possession',
      true,
      (send, clientId) => send('PATCH', `/clients/${clientId}`, { body: { requireDpop: true } }),
    ],
    [
      'outlast another name',
      false,
      (send, clientId) => send('PATCH', `/clients/${clientId}`, { body: { name: 'Other' } }),
    ],
    [
      'outlast another scope',
      false,
      (send, clientId) =>
        send('PATCH', `/clients/${clientId}`, {
          body: { scopes: ['read:articles', 'write:articles', 'read:users'] },
        }),
    ],
  ])('%s', async ([_, ends, change], { create, send, api }) => {
    const { clientId } = await create({ ...SERVICE, scopes: ['read:articles', 'write:articles'] });
    const token = await api.mint.token({ client_id: clientId });
    expect(await isGood(api, token)).toBe(true);
    await change(send, clientId);
    if (ends)
      await until(
        () => isGood(api, token),
        (good) => !good,
        3_000,
      );
    else
      expect(
        await api.side.pool.query('select from auth.revoked where value = $1', [clientId]),
      ).toMatchObject({ rowCount: 0 });
  });

  test('verify again once the new secret is known', async ({ create, eventsOf, send, api }) => {
    const { clientId, secret } = await create();
    const { body } = await send('POST', `/clients/${clientId}/secret`);
    expect(await api.clients.verifySecret(clientId, secret)).toBe(false);
    expect(await api.clients.verifySecret(clientId, String(body.secret))).toBe(true);
    const seen = await readSeenRevocations(api.side.pool, { userId: 7001, clientId });
    const token = await api.mint.token({ client_id: clientId, revocations_seen: seen });
    await until(
      () => api.side.pool.query('select from auth.revoked where value = $1', [clientId]),
      ({ rowCount }) => rowCount === 1,
    );
    expect(await isGood(api, token)).toBe(true);
    expect(await eventsOf(clientId)).toMatchObject([
      { type: 'client.registered' },
      { type: 'client.secret_rotated' },
    ]);
  });
});

test('a client that is disabled cannot use its secret', async ({ create, send, api }) => {
  const { clientId, secret } = await create();
  await send('PATCH', `/clients/${clientId}`, { body: { disabled: true } });
  expect(await api.clients.verifySecret(clientId, secret)).toBe(false);
});

test('a client without a secret cannot rotate it', async ({ create, send }) => {
  const { clientId } = await create(WEB);
  expect(await send('POST', `/clients/${clientId}/secret`)).toMatchObject({
    status: 409,
    body: { code: 'client_without_secret' },
  });
});

test('a client that starts to use a secret gets one, and one that stops loses it', async ({
  create,
  send,
  api,
}) => {
  const { clientId } = await create(WEB);
  const { body } = await send('PATCH', `/clients/${clientId}`, {
    body: { tokenEndpointAuthMethod: 'client_secret_post' },
  });
  expect(await api.clients.verifySecret(clientId, String(body.secret))).toBe(true);
  await send('PATCH', `/clients/${clientId}`, { body: { tokenEndpointAuthMethod: 'none' } });
  expect(await api.clients.verifySecret(clientId, String(body.secret))).toBe(false);
});

test('a deleted client is gone, and its service account stays', async ({ create, eventsOf, send, api }) => {
  const { clientId, serviceAccount } = await create();
  expect(await send('DELETE', `/clients/${clientId}`)).toMatchObject({ status: 204, body: null });
  expect(await send('GET', `/clients/${clientId}`)).toMatchObject({ status: 404 });
  expect(await eventsOf(clientId)).toMatchObject([{ type: 'client.registered' }, { type: 'client.deleted' }]);
  const events = [];
  for await (const page of api.side.eventLog.read(`user-${serviceAccount}` as StreamName))
    events.push(...page);
  expect(events).toHaveLength(1);
});

test('the id of a client whose service account was erased cannot be reused', async ({
  create,
  send,
  api,
}) => {
  const { clientId, serviceAccount } = await create();
  await send('DELETE', `/clients/${clientId}`);
  await api.side.send({ type: 'DeleteUser', userId: serviceAccount }, contextOf(system));
  const refused = await send('POST', '/clients', { body: { ...SERVICE, clientId } });
  expect(refused).toMatchObject({
    status: 409,
    body: {
      code: 'client_id_taken',
      title: 'The service account of this client was deleted: choose another id.',
    },
  });
  // A client without an account of its own inherits nothing from it.
  expect(await send('POST', '/clients', { body: { ...WEB, clientId } })).toMatchObject({ status: 201 });
});

test('of two parallel registrations of one id, one succeeds', async ({ send }) => {
  const clientId = `race-${randomUUID().slice(0, 8)}`;
  const answers = await Promise.all(
    [1, 2, 3, 4].map(() => send('POST', '/clients', { body: { ...WEB, clientId } })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409]);
});

import { expect } from 'vitest';
import { MANAGER, SERVICE, test, WEB } from '../../test/engines/client-api.ts';

const NARROW = { ...MANAGER, scope: 'manage:clients read:articles' };
const CLERK = { ...MANAGER, scope: 'manage:clients write:users' };
const lacks = (scope: string) => ({ status: 403, body: { code: 'insufficient_scope', details: { scope } } });

test.for<[string, object, string]>([
  ['a scope that they lack', { ...WEB, scopes: ['read:articles', 'write:articles'] }, 'write:articles'],
  ['a service account without being allowed to register users', SERVICE, 'write:users'],
  ['an administrator as its service account', { ...SERVICE, serviceAccountRole: 'admin' }, 'write:users'],
])('nobody registers a client with %s', async ([_, body, scope], { send }) => {
  expect(await send('POST', '/clients', { body, claims: NARROW })).toMatchObject(lacks(scope));
});

test.for(['PUT', 'PATCH'])(
  'nobody gives a client by %s a scope that they lack',
  async (method, { create, send }) => {
    const { clientId } = await create(WEB);
    const body = { ...WEB, scopes: ['manage:webhooks'] };
    expect(await send(method, `/clients/${clientId}`, { body, claims: NARROW })).toMatchObject(
      lacks('manage:webhooks'),
    );
  },
);

test('making a client act for itself needs the right to register users', async ({ create, send }) => {
  const { clientId } = await create(WEB);
  const body = { ...SERVICE, redirectUris: [] };
  expect(await send('PATCH', `/clients/${clientId}`, { body, claims: NARROW })).toMatchObject(
    lacks('write:users'),
  );
});

test('nobody can get a client that can do more than they can', async ({ create, send, api }) => {
  const { clientId, secret } = await create({ ...SERVICE, scopes: ['write:articles'] });
  expect(await send('POST', `/clients/${clientId}/secret`, { claims: NARROW })).toMatchObject(
    lacks('write:articles'),
  );
  const body = { tokenEndpointAuthMethod: 'client_secret_post' };
  expect(await send('PATCH', `/clients/${clientId}`, { body, claims: NARROW })).toMatchObject(
    lacks('write:articles'),
  );
  expect(await api.clients.verifySecret(clientId, secret)).toBe(true);
});

test('anybody who manages clients may disable one, whatever it can do', async ({ create, send }) => {
  const { clientId } = await create({ ...WEB, scopes: ['write:articles'] });
  expect(
    await send('PATCH', `/clients/${clientId}`, { body: { disabled: true }, claims: NARROW }),
  ).toMatchObject({ status: 200 });
  expect(await send('DELETE', `/clients/${clientId}`, { claims: NARROW })).toMatchObject({ status: 204 });
});

test('one may give the scopes that one has, and identity scopes belong to nobody', async ({ send }) => {
  const body = { ...WEB, scopes: ['openid', 'email', 'read:articles'] };
  expect(await send('POST', '/clients', { body, claims: NARROW })).toMatchObject({ status: 201 });
  expect(await send('POST', '/clients', { body: SERVICE, claims: CLERK })).toMatchObject({ status: 201 });
});

// Own server: an installation with routes of its own.
import { test as base, expect } from 'vitest';
import { HELPDESK, PUBLIC_URL, startWith } from '../engines/start-with-parts.ts';

type Sent = { readonly token?: string; readonly body?: object; readonly headers?: object };

const started = base.extend(
  'startOwn',
  { scope: 'file' },
  () => () => startWith([], HELPDESK, 'test/toy/own-routes-main.ts'),
);
const test = started.extend('annals', { scope: 'file' }, async ({ startOwn }, { onCleanup }) => {
  const annals = await startOwn();
  onCleanup(() => annals[Symbol.asyncDispose]());
  const send = async (method: string, path: string, { token, body, headers }: Sent = {}) => {
    const response = await fetch(`${annals.url}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
  };
  const tokenOf = (sub: number, role: string, scope: string) =>
    annals.mint.token({ aud: PUBLIC_URL, sub: String(sub), role, scope });
  const admin = await tokenOf(1, 'admin', 'read:users write:users');
  const userOf = async (name: string, role: string) =>
    (await send('POST', '/users', { token: admin, body: { name, role } })).body.id as number;
  const [customer, agent] = [await userOf('Ada', 'customer'), await userOf('Bert', 'agent')];
  const scopes = 'read:tickets write:tickets';
  return {
    ...{ send, tokenOf, customer, agent },
    ofCustomer: await tokenOf(customer, 'customer', scopes),
    ofAgent: await tokenOf(agent, 'agent', scopes),
  };
});

test('a route of its own reads the read model, after the write that its token names', async ({ annals }) => {
  const { send, customer, ofCustomer, ofAgent } = annals;
  const opened = await send('POST', '/tickets', {
    token: ofCustomer,
    body: { subject: 'Smoke', details: 'Help.' },
  });
  expect(opened.status).toBe(201);
  const headers = { 'consistency-token': opened.headers.get('consistency-token') };
  expect(await send('GET', '/ticket-counts', { token: ofAgent, headers })).toMatchObject({
    status: 200,
    body: [{ requesterId: customer, tickets: 1 }],
  });
  expect((await send('GET', '/ticket-counts?status=solved', { token: ofAgent })).body).toEqual([]);
});

test('it gets the caller with role and scopes, and decides for itself', async ({ annals }) => {
  const { send, tokenOf, agent, ofCustomer, ofAgent } = annals;
  expect((await send('GET', '/who', { token: ofAgent })).body).toEqual({
    id: agent,
    role: 'agent',
    scopes: ['read:tickets', 'write:tickets'],
  });
  expect((await send('GET', '/who')).body).toEqual({ scopes: [] });
  expect((await send('GET', '/ticket-counts')).body).toMatchObject({ status: 401, code: 'unauthenticated' });
  expect((await send('GET', '/ticket-counts', { token: ofCustomer })).body).toMatchObject({
    status: 403,
    code: 'forbidden',
  });
  expect((await send('GET', '/who', { token: `${ofAgent}x` })).body).toMatchObject({ code: 'invalid_token' });
  const unscoped = await tokenOf(agent, 'agent', 'read:users');
  expect((await send('GET', '/ticket-counts', { token: unscoped })).status).toBe(403);
});

test('its errors are problems, and an unexpected one is not shown', async ({ annals: { send } }) => {
  const broken = await send('GET', '/broken');
  expect(broken.headers.get('content-type')).toContain('application/problem+json');
  expect(broken.body).toMatchObject({ status: 500, code: 'internal', requestId: expect.any(String) });
  expect(JSON.stringify(broken.body)).not.toContain('secret');
  expect((await send('GET', '/missing')).body).toMatchObject({
    status: 404,
    code: 'not_found',
    detail: 'There is no such shelf.',
  });
});

test('a value that the database cannot read is a fault of the request', async ({ annals }) => {
  const { send, ofAgent } = annals;
  const paths = ['/ticket-counts?status=%00', '/subjects/first', `/subjects/${'9'.repeat(30)}`];
  for (const path of paths)
    expect((await send('GET', path, { token: ofAgent })).body, path).toMatchObject({
      status: 400,
      code: 'invalid_parameter',
    });
});

test('a statement with too few or too many values is a fault of the route', async ({ annals: { send } }) => {
  expect((await send('GET', '/strange/2')).body).toEqual([{ sum: 2 }]);
  for (const count of [1, 3])
    expect((await send('GET', `/strange/${count}`)).body, String(count)).toMatchObject({
      status: 500,
      code: 'internal',
    });
});

test('nothing that a statement changes in its session stays', async ({ annals: { send } }) => {
  const before = (await send('GET', '/session')).body;
  expect((await send('POST', '/session')).status).toBe(200);
  expect((await send('GET', '/session')).body).toEqual(before);
});

test('it cannot write, and replaces no route of Annals', async ({ annals: { send, ofAgent } }) => {
  expect((await send('POST', '/write')).body).toMatchObject({
    status: 403,
    code: 'forbidden',
    title: 'Routes of an installation’s own can only read, but this one tried to write.',
  });
  expect((await send('POST', '/escape')).status).toBe(500);
  const { body } = await send('GET', '/tickets', { token: ofAgent });
  expect(body).toHaveLength(1);
});

test('no description of the interface names it', async ({ annals: { send } }) => {
  for (const path of ['/openapi.json', '/'])
    expect(JSON.stringify((await send('GET', path)).body), path).not.toContain('ticket-counts');
});

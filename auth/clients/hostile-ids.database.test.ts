import { expect } from 'vitest';
import { test, WEB } from '../../test/engines/client-api.ts';

const HOSTILE = ['a\0b', '\0', 'ä', 'a b', 'x'.repeat(201), '\ud800', ''];

test.for(HOSTILE)('no client has the id %j', async (id, { api }) => {
  expect(await api.clients.find(id)).toBeUndefined();
  expect(await api.clients.verifySecret(id, 'secret')).toBe(false);
});

test.for<[string, string, unknown]>([
  ['GET', '', undefined],
  ['PUT', '', WEB],
  ['PATCH', '', { name: 'Other' }],
  ['DELETE', '', undefined],
  ['POST', '/secret', undefined],
])('%s of an id with a NUL is 404', async ([method, suffix, body], { send }) => {
  expect(await send(method, `/clients/a%00b${suffix}`, { body })).toMatchObject({
    status: 404,
    body: { code: 'client_not_found' },
  });
});

test.for(HOSTILE)('the list after %j is empty', async (id, { send }) => {
  const after = Buffer.from(id).toString('base64url');
  expect(await send('GET', `/clients?after=${after}`)).toMatchObject({ status: 422 });
});

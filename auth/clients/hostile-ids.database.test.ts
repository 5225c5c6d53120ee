import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClientWorld, createClientWorld, sendTo, WEB } from '../../test/engines/client-world.ts';

let world: ClientWorld;
beforeAll(async () => {
  world = await createClientWorld();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

const HOSTILE = ['a\0b', '\0', 'ä', 'a b', 'x'.repeat(201), '\ud800', ''];

test.each(HOSTILE)('no client has the id %j', async (id) => {
  expect(await world.clients.find(id)).toBeUndefined();
  expect(await world.clients.verifySecret(id, 'secret')).toBe(false);
});

test.each<[string, string, unknown]>([
  ['GET', '', undefined],
  ['PUT', '', WEB],
  ['PATCH', '', { name: 'Other' }],
  ['DELETE', '', undefined],
  ['POST', '/secret', undefined],
])('%s of an id with a NUL is 404', async (method, suffix, body) => {
  expect(await sendTo(world, method, `/clients/a%00b${suffix}`, { body })).toMatchObject({
    status: 404,
    body: { code: 'client_not_found' },
  });
});

test.each(HOSTILE)('the list after %j is empty', async (id) => {
  const after = Buffer.from(id).toString('base64url');
  expect(await sendTo(world, 'GET', `/clients?after=${after}`)).toMatchObject({ status: 422 });
});

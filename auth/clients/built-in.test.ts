import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { StoredClient } from '../storage/client.ts';
import { withConsole } from './built-in.ts';
import type { Clients } from './clients.ts';

/** An installation with two clients that must not change. */
const registered = ['a-robot', 'zebra'].map((clientId) => ({ clientId }) as StoredClient);
const refuse = async () => {
  throw new Error('the client was looked for among those that are registered');
};
const clients: Clients = {
  find: refuse,
  verifySecret: refuse,
  usesOf: refuse,
  list: async (after, limit) => registered.filter(({ clientId }) => clientId > after).slice(0, limit),
  register: refuse,
  change: refuse,
  rotateSecret: refuse,
  remove: refuse,
};
const by = { caller: { kind: 'system', name: 'test' }, requestId: 'test' } as const;

test.each([
  ['https://annals.example', ['https://annals.example/console', 'https://annals.example/graphql']],
  // If resources are below a path, pages are still at the root.
  [
    'https://annals.example/api',
    [
      'https://annals.example/api/console',
      'https://annals.example/console',
      'https://annals.example/api/graphql',
    ],
  ],
  ['http://localhost:4000', ['http://localhost:4000/console', 'http://localhost:4000/graphql']],
])('at %s its redirect URIs are %j', async (publicUrl, redirectUris) => {
  expect(await withConsole(clients, publishing, publicUrl).find('console')).toMatchObject({
    redirectUris,
    firstParty: true,
    tokenEndpointAuthMethod: 'none',
  });
});

test('it is listed among the others, in the order of their ids', async () => {
  const all = withConsole(clients, publishing, 'https://annals.example');
  const idsOf = async (after: string, limit: number) =>
    (await all.list(after, limit)).map(({ clientId }) => clientId);
  expect(await idsOf('', 10)).toEqual(['a-robot', 'console', 'zebra']);
  expect(await idsOf('', 2)).toEqual(['a-robot', 'console']);
  expect(await idsOf('console', 10)).toEqual(['zebra']);
});

test('nobody can take its id, change it or delete it', async () => {
  const all = withConsole(clients, publishing, 'https://annals.example');
  const settings = (await all.find('console')) as never;
  await expect(all.register({ clientId: 'console', settings }, by)).rejects.toMatchObject({
    code: 'client_id_taken',
  });
  await expect(all.change('console', { apply: (same) => same }, by)).rejects.toMatchObject({
    code: 'client_built_in',
  });
  await expect(all.rotateSecret('console', by)).rejects.toMatchObject({ code: 'client_built_in' });
  await expect(all.remove('console', undefined, by)).rejects.toMatchObject({ code: 'client_built_in' });
});

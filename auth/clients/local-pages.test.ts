import { Provider } from 'oidc-provider';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { policyOf } from '#shared/policy.ts';
import { metadataOf } from '../provider/client-metadata.ts';
import type { StoredClient } from '../storage/client.ts';
import type { Clients } from './clients.ts';
import { allowLocalPaths, withLocalPages } from './local-pages.ts';
import { openScopesOf } from './open-scopes.ts';

const registered = { clientId: 'page-localhost-3000', name: 'Registered' } as StoredClient;
const clients = withLocalPages(
  { find: async (id: string) => (id === registered.clientId ? registered : undefined) } as Clients,
  publishing,
);

test.each([
  ['page-localhost-5173', 'http://localhost:5173'],
  ['page-127-0-0-1-8080', 'http://127.0.0.1:8080'],
  ['page-localhost-80', 'http://localhost'],
])('%s is a page at %s, without a right that a client may not register itself with', async (id, origin) => {
  const page = await clients.find(id);
  expect(page).toMatchObject({
    clientId: id,
    localOrigin: origin,
    redirectUris: [`${origin}/`],
    tokenEndpointAuthMethod: 'none',
    firstParty: false,
  });
  expect(page?.defaultScopes).toEqual(openScopesOf(policyOf(publishing)));
  expect(page?.scopes).not.toContain('manage:clients');
  // oidc-provider caches by the object.
  expect(await clients.find(id)).toBe(page);
});

test.each([
  'page-localhost-0',
  'page-localhost-70000',
  'page-localhost-05173',
  'page-localhost-',
  'page-localhost.evil.example-80',
  'page-10-0-0-1-80',
  'page-evil-80',
])('%s is no page', async (id) => {
  expect(await clients.find(id)).toBeUndefined();
});

test('a registered client of this id replaces the page', async () => {
  expect(await clients.find(registered.clientId)).toBe(registered);
});

test('a page may be at every path of its origin, and another client only where it is registered', async () => {
  const page = (await clients.find('page-localhost-5173')) as StoredClient;
  const { localOrigin: _, ...other } = page;
  const provider = new Provider('http://localhost:4000', {
    extraClientMetadata: { properties: ['localOrigin'] },
    clients: [page, { ...other, clientId: 'other' }].map((client) => {
      const {
        allowedScopes: _1,
        defaultScopes: _2,
        isAgent: _3,
        createdAtMs: _4,
        ...known
      } = metadataOf(client);
      return { ...known, id_token_signed_response_alg: 'RS256' } as never;
    }),
  });
  allowLocalPaths(provider);
  const isAllowed = async (id: string, uri: string) =>
    (await provider.Client.find(id))?.redirectUriAllowed(uri);
  for (const path of ['/', '/a/page.html', '/?tag=a'])
    expect(await isAllowed(page.clientId, `http://localhost:5173${path}`)).toBe(true);
  expect(await isAllowed('other', 'http://localhost:5173/')).toBe(true);
  expect(await isAllowed('other', 'http://localhost:5173/a/page.html')).toBe(false);
  for (const uri of [
    'http://localhost:5174/',
    'https://localhost:5173/',
    'http://localhost.evil.example:5173/',
    'http://ada@localhost:5173/',
    'http://localhost:5173/#part',
    'javascript:alert(1)',
    'nonsense',
  ])
    expect(await isAllowed(page.clientId, uri), uri).toBe(false);
});

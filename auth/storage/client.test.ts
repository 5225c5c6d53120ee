import { describe, expect, test } from 'vitest';
import { clientId } from '#shared/clients/settings.ts';
import { ClientSettings } from '../../test/engines/client-settings.ts';
import { hashSecret, isSecret, newSecret } from '../clients/secret.ts';

const web = {
  name: 'Web',
  grantTypes: ['authorization_code'],
  redirectUris: ['https://app.example/callback'],
};
const service = {
  name: 'Service',
  grantTypes: ['client_credentials'],
  tokenEndpointAuthMethod: 'client_secret_basic',
};
const key = { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' };

/** The fields that a refusal names. */
const refusedFields = (settings: object): string[] => {
  const { error } = ClientSettings.safeParse(settings);
  return [...new Set(error?.issues.map(({ path }) => String(path[0])))];
};

test('an omitted setting is off', () => {
  expect(ClientSettings.parse(web)).toEqual({
    ...web,
    tokenEndpointAuthMethod: 'none',
    postLogoutRedirectUris: [],
    scopes: [],
    defaultScopes: [],
    firstParty: false,
    requireDpop: false,
    requirePar: false,
    tlsClientAuthSubject: null,
    jwks: null,
    disabled: false,
  });
});

test('a client without default scopes gets all of its scopes by default; it can set fewer or none', () => {
  const scopes = ['read:articles', 'write:articles'];
  const defaultsOf = (settings: object) =>
    ClientSettings.parse({ ...web, scopes, ...settings }).defaultScopes;
  expect([
    defaultsOf({}),
    defaultsOf({ defaultScopes: ['read:articles'] }),
    defaultsOf({ defaultScopes: [] }),
  ]).toEqual([scopes, ['read:articles'], []]);
});

test.each<[string, object, string]>([
  ['without a name', { ...web, name: ' ' }, 'name'],
  ['without a grant', { ...web, grantTypes: [] }, 'grantTypes'],
  ['with the implicit grant', { ...web, grantTypes: ['implicit'] }, 'grantTypes'],
  ['with the password grant', { ...web, grantTypes: ['password'] }, 'grantTypes'],
  ['that cannot be redirected', { ...web, redirectUris: [] }, 'redirectUris'],
  [
    'that is redirected twice to one place',
    { ...web, redirectUris: [...web.redirectUris, ...web.redirectUris] },
    'redirectUris',
  ],
  [
    'that is redirected to too many places',
    { ...web, redirectUris: Array.from({ length: 21 }, (_, each) => `https://a.example/${each}`) },
    'redirectUris',
  ],
  ['that is redirected without a code', { ...service, redirectUris: web.redirectUris }, 'redirectUris'],
  [
    'that signs out without signing in',
    { ...service, postLogoutRedirectUris: web.redirectUris },
    'postLogoutRedirectUris',
  ],
  [
    'that refreshes what nobody granted',
    { ...service, grantTypes: ['client_credentials', 'refresh_token'] },
    'grantTypes',
  ],
  [
    'that acts for itself without proof',
    { ...service, tokenEndpointAuthMethod: 'none' },
    'tokenEndpointAuthMethod',
  ],
  ['with an unknown scope', { ...web, scopes: ['write:everything'] }, 'scopes'],
  ['that works offline and cannot refresh', { ...web, scopes: ['offline_access'] }, 'scopes'],
  [
    'whose default is not allowed',
    { ...web, scopes: ['read:articles'], defaultScopes: ['write:articles'] },
    'defaultScopes',
  ],
  ['that signs without keys', { ...service, tokenEndpointAuthMethod: 'private_key_jwt' }, 'jwks'],
  ['with keys that are not used', { ...service, jwks: { keys: [key] } }, 'jwks'],
  [
    'with a private key',
    { ...service, tokenEndpointAuthMethod: 'private_key_jwt', jwks: { keys: [{ ...key, d: 'c' }] } },
    'jwks',
  ],
  [
    'with a shared secret as a key',
    { ...service, tokenEndpointAuthMethod: 'private_key_jwt', jwks: { keys: [{ kty: 'oct', k: 'c' }] } },
    'jwks',
  ],
  [
    'with a short key',
    {
      ...service,
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }] },
    },
    'jwks',
  ],
  ...(['kid', 'alg'] as const).map((field): [string, object, string] => [
    `with a NUL in the ${field} of a key`,
    { ...service, tokenEndpointAuthMethod: 'private_key_jwt', jwks: { keys: [{ ...key, [field]: 'a\0b' }] } },
    'jwks',
  ]),
  [
    'with a NUL in a certificate of a key',
    { ...service, tokenEndpointAuthMethod: 'private_key_jwt', jwks: { keys: [{ ...key, x5c: ['a\0b'] }] } },
    'jwks',
  ],
  [
    'whose keys lie elsewhere',
    { ...service, tokenEndpointAuthMethod: 'private_key_jwt', jwksUri: 'http://10.0.0.1/' },
    'jwks',
  ],
  [
    'with a certificate of nobody',
    { ...service, tokenEndpointAuthMethod: 'tls_client_auth' },
    'tlsClientAuthSubject',
  ],
  ['with a subject that is not used', { ...service, tlsClientAuthSubject: 'CN=a' }, 'tlsClientAuthSubject'],
  ['with a role and no account', { ...web, serviceAccountRole: 'admin' }, 'serviceAccountRole'],
  ['that chooses its secret', { ...service, secret: 'hunter2' }, 'undefined'],
])('a client %s is refused', (_, settings, field) => {
  expect(refusedFields(settings)).toContain(field);
});

test.each<[string, object]>([
  ['a service', { ...service, scopes: ['manage:clients'], serviceAccountRole: 'admin' }],
  [
    'a television',
    { name: 'TV', grantTypes: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'] },
  ],
  ['one that signs', { ...service, tokenEndpointAuthMethod: 'private_key_jwt', jwks: { keys: [key] } }],
  [
    'one by certificate',
    { ...service, tokenEndpointAuthMethod: 'tls_client_auth', tlsClientAuthSubject: 'CN=service,O=Example' },
  ],
  [
    'one that works offline',
    { ...web, grantTypes: ['authorization_code', 'refresh_token'], scopes: ['openid', 'offline_access'] },
  ],
])('%s is taken', (_, settings) => {
  expect(refusedFields(settings)).toEqual([]);
});

describe('an id', () => {
  test.each(['a', 'Web', 'web-', '-web', 'we b', 'a/b', 'x'.repeat(64), ''])('%j is refused', (id) => {
    expect(clientId.safeParse(id).success).toBe(false);
  });

  test.each(['web', 'web-1', '0a1', 'x'.repeat(63)])('%j is taken', (id) => {
    expect(clientId.parse(id)).toBe(id);
  });
});

test('a secret has 256 bits, is stored as a hash, and verifies', () => {
  const secret = newSecret();
  expect(secret).toMatch(/^annals_secret_[\w-]{43}$/);
  expect(newSecret()).not.toBe(secret);
  const hash = hashSecret(secret);
  expect(hash.includes(Buffer.from(secret))).toBe(false);
  expect(isSecret(secret, hash)).toBe(true);
  expect(isSecret(`${secret} `, hash)).toBe(false);
  expect(isSecret('', hash)).toBe(false);
});

import { expect, test } from 'vitest';
import type { StoredClient } from '../storage/client.ts';
import { changedFields, endingOf } from './changes.ts';

const web: StoredClient = {
  clientId: 'web',
  name: 'Web',
  tokenEndpointAuthMethod: 'private_key_jwt',
  grantTypes: ['authorization_code', 'refresh_token'],
  redirectUris: ['https://app.example/callback'],
  postLogoutRedirectUris: [],
  scopes: ['openid', 'read:articles', 'write:articles'],
  defaultScopes: ['openid'],
  firstParty: true,
  requireDpop: false,
  requirePar: false,
  jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'a', y: 'b' }] },
  disabled: false,
  selfRegistered: false,
  version: 1,
  createdAt: new Date(0),
  updatedAt: new Date(0),
};

const dpop = { ...web, requireDpop: true };
const mutualTls: StoredClient = {
  ...web,
  tokenEndpointAuthMethod: 'tls_client_auth',
  tlsClientAuthSubject: 'CN=a',
};

test.each<[string, StoredClient, Partial<StoredClient>, ReturnType<typeof endingOf>]>([
  ['disabled', web, { disabled: true }, 'grants'],
  ['third-party', web, { firstParty: false }, 'grants'],
  ['unable to learn who the user is', web, { scopes: ['read:articles', 'write:articles'] }, 'grants'],
  ['without an API scope', web, { scopes: ['openid', 'read:articles'] }, 'tokens'],
  ['without a grant type', web, { grantTypes: ['authorization_code'] }, 'tokens'],
  ['bound to keys', web, { requireDpop: true }, 'tokens'],
  ['authenticated by another method', web, { tokenEndpointAuthMethod: 'none' }, 'tokens'],
  ['authenticated by other keys', web, { jwks: { keys: [] } }, 'tokens'],
  ['authenticated by another certificate', mutualTls, { tlsClientAuthSubject: 'CN=b' }, 'tokens'],
  ['enabled', { ...web, disabled: true }, { disabled: false }, 'nothing'],
  ['still disabled', { ...web, disabled: true }, { disabled: true, name: 'Other' }, 'nothing'],
  ['first-party', { ...web, firstParty: false }, { firstParty: true }, 'nothing'],
  ['no longer bound to keys', dpop, { requireDpop: false }, 'nothing'],
  ['allowed more', web, { scopes: [...web.scopes, 'email'] }, 'nothing'],
  ['renamed', web, { name: 'Other', redirectUris: [] }, 'nothing'],
])('a client that becomes %s loses what it may no longer have', (_, before, change, ending) => {
  expect(endingOf(before, { ...before, ...change })).toBe(ending);
});

test('only changed fields are recorded', () => {
  const before = { ...web, tlsClientAuthSubject: null, jwks: null };
  expect(changedFields(before, { ...before, name: 'Other', scopes: [...web.scopes] })).toEqual(['name']);
});

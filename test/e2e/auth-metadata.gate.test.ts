import { describe, expect } from 'vitest';
import { ISSUER } from '../engines/auth-database.ts';
import { sharedAuthTest } from '../engines/auth-site.ts';
import { basic, post } from '../engines/oauth.ts';
import { SCOPES } from '../engines/policy.ts';

const test = sharedAuthTest
  .extend('json', { scope: 'file' }, ({ auth }) => async (path: string) => {
    const response = await auth.fetch(`${ISSUER}${path}`);
    return response.json() as Promise<Record<string, unknown>>;
  })
  .extend('tokenFor', { scope: 'file' }, ({ auth, web }) => (origin: string) => {
    return post(auth, '/token', { client_id: web.clientId, code: 'made-up' }, { origin });
  })
  .extend('apiToken', { scope: 'file' }, async ({ auth, service }) => {
    const { body } = await post(auth, '/token', { grant_type: 'client_credentials' }, basic(service));
    return String(body.access_token);
  });

test.for(['openid-configuration', 'oauth-authorization-server'])(
  '/.well-known/%s names every endpoint under the issuer (RFC 8414)',
  async (name, { json }) => {
    expect(await json(`/.well-known/${name}`)).toMatchObject({
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/authorize`,
      token_endpoint: `${ISSUER}/token`,
      device_authorization_endpoint: `${ISSUER}/device_authorization`,
      introspection_endpoint: `${ISSUER}/introspect`,
      revocation_endpoint: `${ISSUER}/revoke`,
      jwks_uri: `${ISSUER}/jwks`,
      userinfo_endpoint: `${ISSUER}/userinfo`,
      pushed_authorization_request_endpoint: `${ISSUER}/par`,
      end_session_endpoint: `${ISSUER}/sign-out`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: expect.arrayContaining([...SCOPES, 'openid']),
      grant_types_supported: [
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:device_code',
        'urn:ietf:params:oauth:grant-type:token-exchange',
      ],
      authorization_response_iss_parameter_supported: true,
      tls_client_certificate_bound_access_tokens: true,
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
      id_token_signing_alg_values_supported: ['ES256'],
    });
  },
);

test('/.well-known/oauth-protected-resource names the issuer of tokens for our API (RFC 9728)', async ({
  json,
}) => {
  expect(await json('/.well-known/oauth-protected-resource')).toMatchObject({
    resource: ISSUER,
    authorization_servers: [ISSUER],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
  });
});

test('registration is not listed if it is closed', async ({ json }) => {
  expect(await json('/.well-known/openid-configuration')).not.toHaveProperty('registration_endpoint');
});

test.for<[method: string, path: string]>([
  ['POST', '/.well-known/openid-configuration'],
  ['POST', '/.well-known/oauth-protected-resource'],
  ['POST', '/jwks'],
  ['GET', '/par'],
  ['GET', '/introspect'],
  ['GET', '/revoke'],
  ['GET', '/device_authorization'],
  ['DELETE', '/userinfo'],
  ['POST', '/sign-out'],
])('%s %s is 405', async ([method, path], { auth }) => {
  const response = await auth.fetch(`${ISSUER}${path}`, { method });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBeTruthy();
});

test('an unknown path is left to other routes', async ({ auth }) => {
  const response = await auth.fetch(`${ISSUER}/nowhere`);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    404,
    'application/problem+json; charset=utf-8',
  ]);
});

describe('a page of another origin', () => {
  test.for(['https://app.test', 'https://friend.test'])(
    'may ask for a token from %s: its client is at home there, or we trust it',
    async (origin, { tokenFor }) => {
      const { body, headers } = await tokenFor(origin);
      expect(body.error).toBe('invalid_grant');
      expect(headers.get('access-control-allow-origin')).toBe(origin);
    },
  );

  test('is refused from elsewhere', async ({ tokenFor }) => {
    const { body, headers } = await tokenFor('https://evil.test');
    expect(body.error).toBe('invalid_request');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('/userinfo is refused', () => {
  test.for<[string, (apiToken: string) => Record<string, string>]>([
    ['without a token', () => ({})],
    ['with a made-up one', () => ({ authorization: 'Bearer made-up' })],
    ['with one for our API', (apiToken) => ({ authorization: `Bearer ${apiToken}` })],
  ])('%s', async ([_, headersWith], { apiToken, auth }) => {
    const response = await auth.fetch(`${ISSUER}/userinfo`, { headers: headersWith(apiToken) });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
  });
});

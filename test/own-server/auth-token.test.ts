// Over 200 lines, because it is one endpoint: /token, with each way to authenticate, each grant but the code,
// and each refusal.
import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import type { StoredClient } from '../../auth/storage/client.ts';
import { until } from '../../testing/until.ts';
import {
  type AuthInstance,
  ISSUER,
  registerClient,
  registerPerson,
  serviceClient,
  webClient,
} from '../engines/auth-database.ts';
import { test as base, type Client } from '../engines/auth-fixture.ts';
import { basic, obtainCode, post } from '../engines/oauth.ts';

// Own server: it reads the events of tokens from the log.

const test = base
  .extend(
    'signIn',
    ({ auth, person, web }) =>
      async (scope = 'read:articles write:articles', by = person) => {
        const { code, verifier } = await obtainCode(auth, by, { client_id: web.clientId, scope });
        const { body } = await post(auth, '/token', {
          client_id: web.clientId,
          code,
          code_verifier: verifier,
        });
        return body as { access_token: string; refresh_token: string };
      },
  )
  .extend(
    'refresh',
    ({ auth, web }) =>
      (refreshToken: string, more: Record<string, string> = {}) =>
        post(auth, '/token', { client_id: web.clientId, refresh_token: refreshToken, ...more }),
  );

const clientCredentials = { grant_type: 'client_credentials' };

describe('client authentication', () => {
  type Given = (service: Client) => [Record<string, string>, Record<string, string>];
  test.for<[string, Given]>([
    ['there is none', () => [clientCredentials, {}]],
    ['the secret is missing', (service) => [{ ...clientCredentials, client_id: service.clientId }, {}]],
    ['the secret is wrong', (service) => [clientCredentials, basic({ ...service, secret: 'wrong' })]],
    [
      'the digest of the secret is given for it',
      (service) => [clientCredentials, basic({ ...service, secret: digestOf(service) })],
    ],
    [
      'the secret in the body is wrong',
      (service) => [{ ...clientCredentials, client_id: service.clientId, client_secret: 'wrong' }, {}],
    ],
    ['the client is unknown', () => [clientCredentials, basic({ clientId: 'nobody', secret: 'x' })]],
    ['the scheme is another', () => [clientCredentials, { authorization: 'Digest abc' }]],
    ['the header is broken', () => [clientCredentials, { authorization: 'Basic ***' }]],
  ])('fails with 401 if %s', async ([, given], { auth, service }) => {
    const [form, headers] = given(service);
    const { status, body, headers: answered } = await post(auth, '/token', form, headers);
    expect([status, body.error]).toEqual([401, 'invalid_client']);
    if (headers.authorization !== undefined) expect(answered.get('www-authenticate')).toMatch(/^Basic /);
  });

  const digestOf = ({ secretHash }: StoredClient) => secretHash?.toString('base64url') ?? '';

  test('fails with two methods at once', async ({ auth, service }) => {
    const { status, body } = await post(
      auth,
      '/token',
      { ...clientCredentials, client_secret: service.secret },
      basic(service),
    );
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  test('fails once the client is disabled', async ({ auth }) => {
    const client = await registerClient(auth, { ...serviceClient, disabled: true });
    const { status, body } = await post(auth, '/token', clientCredentials, basic(client));
    expect([status, body.error]).toEqual([401, 'invalid_client']);
  });
});

test.for(['GET', 'PUT', 'DELETE'])('%s /token is 405', async (method, { auth }) => {
  const response = await auth.fetch(`${ISSUER}/token?grant_type=client_credentials`, { method });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('POST, OPTIONS');
});

describe('client credentials', () => {
  test('give a token for the service account with the client’s scopes, and no refresh token', async ({
    auth,
    service,
  }) => {
    const { status, body } = await post(auth, '/token', clientCredentials, basic(service));
    expect([status, Object.keys(body).sort()]).toEqual([
      200,
      ['access_token', 'expires_in', 'scope', 'token_type'],
    ]);
    const claims = decodeJwt(String(body.access_token));
    expect(claims).toMatchObject({
      sub: String(service.serviceAccount),
      aud: ISSUER,
      client_id: service.clientId,
      role: 'author',
    });
    expect(claims).not.toHaveProperty('grant_id');
  });

  test.for<[string, Record<string, string>, string]>([
    ['a scope that the client does not have', { scope: 'manage:clients' }, 'invalid_scope'],
    ['a scope that there is not', { scope: 'read:everything' }, 'invalid_scope'],
    ['another resource', { resource: 'https://elsewhere.test' }, 'invalid_target'],
    ['two grant types', { grant_type: 'password' }, 'unsupported_grant_type'],
  ])('are refused for %s', async ([, change, error], { auth, service }) => {
    const { status, body } = await post(auth, '/token', { ...clientCredentials, ...change }, basic(service));
    expect([status, body.error]).toEqual([400, error]);
  });

  test('are refused to a client that is not registered for them', async ({ auth, web }) => {
    const { status, body } = await post(auth, '/token', { ...clientCredentials, client_id: web.clientId });
    expect([status, body.error]).toEqual([400, 'unauthorized_client']);
  });

  test('are refused without requested or default scopes', async ({ auth }) => {
    const client = await registerClient(auth, { ...serviceClient, defaultScopes: [] });
    const { body } = await post(auth, '/token', clientCredentials, basic(client));
    expect(body.error).toBe('invalid_scope');
  });
});

describe('refresh tokens', () => {
  test('give a new token and a new refresh token, and may request less', async ({ refresh, signIn }) => {
    const { refresh_token: first } = await signIn();
    const { status, body } = await refresh(first, { grant_type: 'refresh_token', scope: 'read:articles' });
    expect([status, body.scope]).toEqual([200, 'read:articles']);
    expect(body.refresh_token).not.toBe(first);
    expect((await refresh(String(body.refresh_token))).body.scope).toBe('read:articles write:articles');
  });

  test('may not request more', async ({ refresh, signIn }) => {
    const { refresh_token: token } = await signIn('read:articles');
    expect((await refresh(token, { scope: 'read:articles write:articles' })).body.error).toBe(
      'invalid_scope',
    );
  });

  test('that are used twice end the grant, with the newer one and the access tokens', async ({
    auth,
    person,
    refresh,
    service,
    signIn,
    web,
  }) => {
    const { access_token: accessToken, refresh_token: first } = await signIn();
    const { refresh_token: second } = (await refresh(first)).body;
    expect((await refresh(first)).body).toMatchObject({ error: 'invalid_grant' });
    expect((await refresh(String(second))).body).toMatchObject({ error: 'invalid_grant' });
    const { body } = await post(auth, '/introspect', { token: accessToken }, basic(service));
    expect(body).toEqual({ active: false });
    const grantId = String(decodeJwt(accessToken).grant_id);
    const reuse = await until(
      () => streamOf(auth, `grant-${grantId}`),
      (events) => events.length === 2,
    );
    expect(reuse.map(({ type }) => type)).toEqual(['grant.consented', 'grant.reuse_detected']);
    expect(reuse[1]?.data).toEqual({
      grantId,
      userId: person.userId,
      clientId: web.clientId,
      reused: 'refresh_token',
    });
  });

  test('are not given to a client without the grant type', async ({ auth, person }) => {
    const client = await registerClient(auth, { ...webClient, grantTypes: ['authorization_code'] });
    const { code, verifier } = await obtainCode(auth, person, { client_id: client.clientId });
    const { body } = await post(auth, '/token', {
      client_id: client.clientId,
      code,
      code_verifier: verifier,
    });
    expect(body).not.toHaveProperty('refresh_token');
  });

  test.for([
    ['made up', 'made-up'],
    ['a digest of one', 'A'.repeat(43)],
    ['empty', ''],
  ])('that are %s are refused', async ([, token = ''], { refresh }) => {
    const { status, body } = await refresh(token, { grant_type: 'refresh_token' });
    expect([status, body.error]).toEqual([400, token === '' ? 'invalid_request' : 'invalid_grant']);
  });

  test('of another client are refused', async ({ auth, signIn }) => {
    const other = await registerClient(auth, webClient);
    const { refresh_token: token } = await signIn();
    const { body } = await post(auth, '/token', { client_id: other.clientId, refresh_token: token });
    expect(body.error).toBe('invalid_grant');
  });

  test('are useless after the deletion of the user', async ({ auth, refresh, service, signIn }) => {
    const leaving = await registerPerson(auth);
    const { refresh_token: token, access_token: accessToken } = await signIn('read:articles', leaving);
    await auth.service.endGrantsOfUser(leaving.userId);
    expect((await refresh(token)).body.error).toBe('invalid_grant');
    expect((await post(auth, '/introspect', { token: accessToken }, basic(service))).body).toEqual({
      active: false,
    });
  });
});

const streamOf = async ({ eventLog }: AuthInstance, stream: string) => {
  const events = [];
  for await (const page of eventLog.read(stream as never)) events.push(...page);
  return events;
};

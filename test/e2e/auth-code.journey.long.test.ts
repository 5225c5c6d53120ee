// Over 200 lines, because it is one protocol: the code grant, from /authorize to /token, with each refusal.
import { createHash } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect } from 'vitest';
import { CALLBACK, ISSUER, webClient } from '../engines/auth-database.ts';
import { sharedAuthTest } from '../engines/auth-site.ts';
import { openBrowser, signInAndAllow } from '../engines/browser.ts';
import { authorizeUrl, newVerifier, obtainCode, post } from '../engines/oauth.ts';

type Change = Readonly<Record<string, string | undefined>>;

const test = sharedAuthTest
  .extend('full', { scope: 'file' }, ({ web }) => ({
    client_id: web.clientId,
    redirect_uri: CALLBACK,
    response_type: 'code',
    code_challenge: newVerifier().challenge,
    code_challenge_method: 'S256',
    state: 'kept',
  }))
  .extend('changed', { scope: 'file' }, ({ full }) => (change: Change) => {
    return authorizeUrl(
      Object.fromEntries(
        Object.entries({ ...full, ...change }).filter((entry): entry is [string, string] => !!entry[1]),
      ),
    );
  });

test('the shortest requests work, and give the default scopes of the client', async ({
  auth,
  person,
  web,
}) => {
  const { verifier, challenge } = newVerifier();
  const url = authorizeUrl({
    client_id: web.clientId,
    redirect_uri: CALLBACK,
    code_challenge: challenge,
    state: 'kept',
  });
  const end = await signInAndAllow(openBrowser(auth), url, person);
  expect(end.statuses.at(-1)).toBe(302);
  expect(end.url.origin + end.url.pathname).toBe(CALLBACK);
  expect(Object.fromEntries(end.url.searchParams)).toEqual({
    code: expect.any(String),
    state: 'kept',
    iss: ISSUER,
  });

  const code = end.url.searchParams.get('code') ?? '';
  const { status, headers, body } = await post(auth, '/token', {
    client_id: web.clientId,
    code,
    code_verifier: verifier,
  });
  expect(status).toBe(200);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(body).toEqual({
    access_token: expect.any(String),
    token_type: 'Bearer',
    expires_in: 300,
    scope: 'read:articles',
    refresh_token: expect.any(String),
  });
  const accessToken = String(body.access_token);
  expect(decodeProtectedHeader(accessToken)).toMatchObject({
    alg: 'ES256',
    typ: 'at+jwt',
    kid: expect.any(String),
  });
  const claims = decodeJwt(accessToken);
  expect(claims).toEqual({
    iss: ISSUER,
    sub: String(person.userId),
    aud: ISSUER,
    iat: expect.any(Number),
    exp: Number(claims.iat) + 300,
    jti: expect.any(String),
    client_id: web.clientId,
    scope: 'read:articles',
    auth_time: expect.any(Number),
    amr: ['pwd'],
    role: 'author',
    grant_id: expect.any(String),
    revocations_seen: { user: expect.any(Number), client: expect.any(Number) },
    user_version: expect.any(Number),
  });
});

describe('/authorize', () => {
  test.for<[string, Change, string]>([
    [
      'no PKCE (RFC 9700, 2.1.1)',
      { code_challenge: undefined, code_challenge_method: undefined },
      'invalid_request',
    ],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a challenge that is no digest', { code_challenge: 'short' }, 'invalid_request'],
    ['the implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
    ['the hybrid flow', { response_type: 'code id_token', nonce: 'n' }, 'unsupported_response_type'],
    ['a scope that the client may not ask for', { scope: 'manage:clients' }, 'invalid_scope'],
    ['a scope that there is not', { scope: 'read:everything' }, 'invalid_scope'],
    ['another resource (RFC 8707)', { resource: 'https://elsewhere.test' }, 'invalid_target'],
    ['a resource that is no URL', { resource: 'articles' }, 'invalid_target'],
    ['an unsigned request object', { request: 'e30.e30.' }, 'request_not_supported'],
    [
      'a request object from elsewhere',
      { request_uri: 'https://app.test/request' },
      'request_uri_not_supported',
    ],
    ['no interaction where one is needed', { prompt: 'none' }, 'login_required'],
  ])('reports %s to the client, with state and iss', async ([_, change, error], { auth, changed }) => {
    const response = await auth.fetch(changed(change));
    expect([302, 303]).toContain(response.status);
    const location = new URL(response.headers.get('location') ?? '');
    expect(location.origin + location.pathname).toBe(CALLBACK);
    // A page that expects a token in the fragment gets the error there.
    const answer = new URLSearchParams(location.search || location.hash.slice(1));
    expect(Object.fromEntries(answer)).toMatchObject({ error, state: 'kept', iss: ISSUER });
  });

  test.for<[string, Change, string]>([
    ['an unknown client', { client_id: 'nobody' }, 'invalid_client'],
    ['no client', { client_id: undefined }, 'invalid_request'],
    ['another redirect URI', { redirect_uri: 'https://evil.test/callback' }, 'invalid_redirect_uri'],
    [
      'a redirect URI that only begins the same',
      { redirect_uri: `${CALLBACK}/more` },
      'invalid_redirect_uri',
    ],
    ['a redirect URI with a query', { redirect_uri: `${CALLBACK}?a=b` }, 'invalid_redirect_uri'],
    ['a redirect URI in capitals', { redirect_uri: CALLBACK.toUpperCase() }, 'invalid_redirect_uri'],
  ])('never redirects to an unregistered address: %s', async ([_, change, error], { auth, changed }) => {
    const response = await auth.fetch(changed(change));
    expect(response.status).toBe(400);
    expect(response.headers.get('location')).toBeNull();
    expect(await response.text()).toContain(error);
  });

  test.for<[string, Change]>([
    ['a refusal', { scope: 'read:everything' }],
    ['a code', { scope: 'read:articles' }],
  ])(
    'runs only its one script if %s is sent by a form (form_post)',
    async ([_, change], { auth, changed, person }) => {
      const end = await signInAndAllow(
        openBrowser(auth),
        changed({ ...change, response_mode: 'form_post' }),
        person,
      );
      const [, script = ''] = /<script>([^<]*)<\/script>/.exec(end.body) ?? [];
      expect(script).toContain('submit()');
      expect(end.body).toContain(`action="${CALLBACK}"`);
      expect(end.headers.get('content-security-policy')?.split('; ')).toEqual([
        "default-src 'none'",
        `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
        `form-action ${new URL(CALLBACK).origin}`,
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ]);
      expect(end.headers.get('cache-control')).toBe('no-store');
      expect(end.headers.get('referrer-policy')).toBe('strict-origin');
    },
  );

  test('accepts no other method', async ({ auth, full }) => {
    const response = await auth.fetch(`${ISSUER}/authorize`, {
      method: 'POST',
      body: new URLSearchParams(full),
    });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });
});

describe('/token with a code', () => {
  test.for<[string, Change, string]>([
    ['no verifier', { code_verifier: undefined }, 'invalid_grant'],
    ['another verifier', { code_verifier: newVerifier().verifier }, 'invalid_grant'],
    ['another redirect URI', { redirect_uri: 'https://evil.test/callback' }, 'invalid_grant'],
    ['another code', { code: 'made-up' }, 'invalid_grant'],
    ['another resource', { resource: 'https://elsewhere.test' }, 'invalid_target'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
  ])('is refused with %s', async ([_, change, error], { auth, person, web }) => {
    const { code, verifier } = await obtainCode(auth, person, { client_id: web.clientId });
    const form = {
      grant_type: 'authorization_code',
      client_id: web.clientId,
      code,
      code_verifier: verifier,
      ...change,
    };
    const { status, body } = await post(
      auth,
      '/token',
      Object.fromEntries(
        Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ),
    );
    expect(status).toBe(400);
    expect(body.error).toBe(error);
  });

  test('is refused to another client', async ({ auth, person, web }) => {
    const other = await auth.registerClient(webClient);
    const { code, verifier } = await obtainCode(auth, person, { client_id: web.clientId });
    const { body } = await post(auth, '/token', {
      client_id: other.clientId,
      code,
      code_verifier: verifier,
      redirect_uri: CALLBACK,
    });
    expect(body.error).toBe('invalid_grant');
  });
});

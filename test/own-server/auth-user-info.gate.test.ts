import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { ISSUER, registerClient, registerPerson, webClient } from '../engines/auth-database.ts';
import { INGRESS_SECRET, test as processes } from '../engines/auth-process.ts';
import { createCertificate, type TestCertificate } from '../engines/certificate.ts';
import { type Answer, newDpopKey, obtainCode, post } from '../engines/oauth.ts';

// Own server: it compares two servers.

const SCOPE = 'openid profile email read:articles';

const bearer = (token: unknown) => ({ authorization: `Bearer ${token}` });
const at = (origin: string) => ({
  fetch: ((input: string | URL, init?: RequestInit) =>
    fetch(String(input).replace(ISSUER, origin), { redirect: 'manual', ...init })) as typeof fetch,
});
const userInfo = (claims: object) => ({ status: 200, body: claims, challenge: null });

const test = processes
  .extend('clientId', { scope: 'file' }, async ({ one }) => {
    const { clientId } = await registerClient(one.auth, webClient);
    return clientId;
  })
  .extend('person', { scope: 'file' }, ({ one }) => registerPerson(one.auth))
  .extend('known', { scope: 'file' }, ({ person }) => ({
    sub: String(person.userId),
    name: 'Ada Lovelace',
    role: 'author',
    email: person.email,
    email_verified: false,
  }))
  .extend(
    'tokensFor',
    { scope: 'file' },
    ({ clientId, one, person }) =>
      async (scope: string, id = clientId, headers: Record<string, string> = {}): Promise<Answer['body']> => {
        const { code, verifier } = await obtainCode(at(one.url), person, { client_id: id, scope });
        const form = { client_id: id, code, code_verifier: verifier };
        return (await post(at(one.url), '/token', form, headers)).body;
      },
  )
  .extend(
    'ask',
    { scope: 'file' },
    ({ one }) =>
      async (path: string, headers: Record<string, string>, base = one.url) => {
        const response = await fetch(`${base}${path}`, { headers });
        const body = (await response.json()) as Record<string, unknown>;
        return { status: response.status, body, challenge: response.headers.get('www-authenticate') };
      },
  );

describe('a token for the API and for OpenID Connect', () => {
  test('works at the API and at /userinfo, in every process', async ({
    ask,
    known,
    one,
    other,
    tokensFor,
  }) => {
    const tokens = await tokensFor(SCOPE);
    expect(tokens.scope).toBe(SCOPE);
    expect(decodeJwt(String(tokens.access_token))).toMatchObject({ aud: ISSUER, scope: SCOPE });
    for (const base of [one.url, other.url]) {
      expect(await ask('/userinfo', bearer(tokens.access_token), base)).toEqual(userInfo(known));
      // The API knows the caller: it only lacks the right.
      expect(await ask('/clients', bearer(tokens.access_token), base)).toMatchObject({
        status: 403,
        body: { code: 'insufficient_scope' },
      });
    }
  });

  test('also after a refresh, and with its scopes', async ({
    ask,
    clientId,
    known,
    one,
    person,
    tokensFor,
  }) => {
    const first = await tokensFor(SCOPE);
    const refresh = async (token: unknown, form = {}) =>
      (await post(at(one.url), '/token', { client_id: clientId, refresh_token: String(token), ...form }))
        .body;
    const second = await refresh(first.refresh_token);
    expect(second.scope).toBe(SCOPE);
    expect(await ask('/userinfo', bearer(second.access_token))).toEqual(userInfo(known));
    const less = await refresh(second.refresh_token, { scope: 'openid read:articles' });
    expect(less.scope).toBe('openid read:articles');
    expect(await ask('/userinfo', bearer(less.access_token))).toEqual(
      userInfo({ sub: String(person.userId) }),
    );
    const apiOnly = await refresh(less.refresh_token, { scope: 'read:articles' });
    expect(await ask('/userinfo', bearer(apiOnly.access_token))).toMatchObject({
      status: 403,
      body: { error: 'insufficient_scope' },
    });
  });

  test('is refused at /userinfo once it is revoked', async ({ ask, clientId, one, other, tokensFor }) => {
    const { access_token: token } = await tokensFor(SCOPE);
    expect((await post(at(one.url), '/revoke', { client_id: clientId, token: String(token) })).status).toBe(
      200,
    );
    expect(await ask('/userinfo', bearer(token), other.url)).toMatchObject({
      status: 401,
      body: { error: 'invalid_token' },
    });
  });

  test('is refused at /userinfo once its grant has ended', async ({
    ask,
    clientId,
    one,
    other,
    tokensFor,
  }) => {
    const { access_token: token, refresh_token: refreshToken } = await tokensFor(SCOPE);
    await post(at(one.url), '/revoke', { client_id: clientId, token: String(refreshToken) });
    expect(await ask('/userinfo', bearer(token), other.url)).toMatchObject({
      status: 401,
      body: { error: 'invalid_token' },
    });
  });

  test('is refused at /userinfo after a change to it', async ({ ask, tokensFor }) => {
    const token = String((await tokensFor(SCOPE)).access_token).replace(/\.[^.]{8}/, '.AAAAAAAA');
    expect(await ask('/userinfo', bearer(token))).toMatchObject({
      status: 401,
      body: { error: 'invalid_token' },
    });
  });
});

describe('a bound token needs its binding at /userinfo, too:', () => {
  test('a key (RFC 9449)', async ({ ask, clientId, known, other, tokensFor }) => {
    const key = await newDpopKey();
    const { access_token: token } = await tokensFor(SCOPE, clientId, { dpop: await key.proof() });
    const ath = createHash('sha256').update(String(token)).digest('base64url');
    const about = { htm: 'GET', htu: `${ISSUER}/userinfo`, ath };
    const dpop = { authorization: `DPoP ${token}` };
    const proof = await key.proof(about);
    expect(await ask('/userinfo', { ...dpop, dpop: proof })).toEqual(userInfo(known));
    expect(await ask('/userinfo', { ...dpop, dpop: proof }, other.url)).toMatchObject({ status: 401 });
    expect(await ask('/userinfo', { ...dpop, dpop: await (await newDpopKey()).proof(about) })).toMatchObject({
      status: 401,
    });
    expect(await ask('/userinfo', dpop)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(await ask('/userinfo', bearer(token))).toMatchObject({ status: 401 });
  });

  test('a certificate (RFC 8705)', async ({ ask, known, one, tokensFor }) => {
    const [mine, stranger] = [await createCertificate('mine'), await createCertificate('stranger')];
    const header = ({ certificate }: TestCertificate) => ({
      'X-Client-Cert': encodeURIComponent(certificate),
      'X-Client-Cert-Secret': INGRESS_SECRET,
    });
    const { x5c, kty, crv, x, y } = mine.jwk;
    const jwks = { keys: [{ kty, crv, x, y, x5c }] };
    const bound = await registerClient(one.auth, {
      ...webClient,
      tokenEndpointAuthMethod: 'self_signed_tls_client_auth',
      jwks,
    });
    const { access_token: token } = await tokensFor(SCOPE, bound.clientId, header(mine));
    expect(await ask('/userinfo', { ...bearer(token), ...header(mine) })).toEqual(userInfo(known));
    expect(await ask('/userinfo', { ...bearer(token), ...header(stranger) })).toMatchObject({ status: 401 });
    expect(await ask('/userinfo', bearer(token))).toMatchObject({ status: 401 });
  });
});

describe('an ID token', () => {
  test.for(['openid profile email', SCOPE])(
    'for "%s" says what /userinfo says, and names its access token',
    async (scope, { clientId, known, tokensFor }) => {
      const { id_token: idToken, access_token: accessToken } = await tokensFor(scope);
      const digest = createHash('sha256').update(String(accessToken)).digest();
      expect(decodeJwt(String(idToken))).toEqual({
        ...known,
        iss: ISSUER,
        aud: clientId,
        iat: expect.any(Number),
        exp: expect.any(Number),
        amr: ['pwd'],
        // OpenID Connect Core, section 3.1.3.6.
        at_hash: digest.subarray(0, digest.length / 2).toString('base64url'),
      });
    },
  );
});

import { SignJWT } from 'jose';
import { describe, expect } from 'vitest';
import { readSigningKeys } from '../../auth/signing-keys/signing-keys.ts';
import { ISSUER } from '../engines/auth-database.ts';
import { test as base, type Client } from '../engines/auth-fixture.ts';
import { basic, newDpopKey, obtainCode, post } from '../engines/oauth.ts';

// Own server: it compares two servers, and signs with the server's own key.

type Tokens = { readonly accessToken: string; readonly refreshToken: string };
type Claims = Readonly<Record<string, unknown>>;

const test = base
  .extend(
    'introspect',
    ({ auth, service }) =>
      async (token: string, instance = auth) =>
        (await post(instance, '/introspect', { token }, basic(service))).body,
  )
  .extend('serviceToken', ({ auth, service }) => async (headers: Record<string, string> = {}) => {
    const form = { grant_type: 'client_credentials' };
    return String((await post(auth, '/token', form, { ...basic(service), ...headers })).body.access_token);
  })
  .extend('userTokens', ({ auth, person, web }) => async (): Promise<Tokens> => {
    const { code, verifier } = await obtainCode(auth, person, { client_id: web.clientId });
    const { body } = await post(auth, '/token', { client_id: web.clientId, code, code_verifier: verifier });
    return { accessToken: String(body.access_token), refreshToken: String(body.refresh_token) };
  })
  .extend('forged', ({ auth, database }) => async (claims: Claims, header: Claims = {}) => {
    const [key] = await readSigningKeys({ pool: auth.pool, masterKey: database.masterKey });
    const now = Math.floor(Date.now() / 1_000);
    const valid = { iss: ISSUER, aud: ISSUER, sub: '1', client_id: 'x', jti: 'j', iat: now, exp: now + 60 };
    return new SignJWT({ ...valid, ...claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key?.kid, ...header } as never)
      .sign(key as never);
  })
  .extend(
    'revoke',
    ({ auth }) =>
      (token: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) =>
        post(auth, '/revoke', { token, ...form }, headers),
  );

describe('/introspect (RFC 7662)', () => {
  test('describes an access token', async ({ introspect, person, userTokens, web }) => {
    const { accessToken } = await userTokens();
    expect(await introspect(accessToken)).toEqual({
      active: true,
      iss: ISSUER,
      sub: String(person.userId),
      aud: ISSUER,
      client_id: web.clientId,
      scope: 'read:articles',
      auth_time: expect.any(Number),
      amr: ['pwd'],
      role: 'author',
      token_type: 'Bearer',
      jti: expect.any(String),
      grant_id: expect.any(String),
      revocations_seen: { user: 0, client: 0 },
      user_version: expect.any(Number),
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
  });

  test('shows the key that a token is bound to', async ({ introspect, serviceToken }) => {
    const key = await newDpopKey();
    expect(await introspect(await serviceToken({ dpop: await key.proof() }))).toMatchObject({
      token_type: 'DPoP',
      cnf: { jkt: key.jkt },
    });
  });

  test('recognises a refresh token', async ({ introspect, person, userTokens, web }) => {
    const { refreshToken } = await userTokens();
    expect(await introspect(refreshToken)).toMatchObject({
      active: true,
      client_id: web.clientId,
      sub: String(person.userId),
    });
  });

  type Make = (from: {
    forged: (claims: Claims, header?: Claims) => Promise<string>;
  }) => Promise<string> | string;
  test.for<[string, Make]>([
    ['is made up', () => 'made-up'],
    ['has expired', ({ forged }) => forged({ exp: 1 })],
    ['has another issuer', ({ forged }) => forged({ iss: 'https://elsewhere.test' })],
    ['has another audience', ({ forged }) => forged({ aud: 'https://elsewhere.test' })],
    ['is of another type, such as an ID token', ({ forged }) => forged({}, { typ: 'JWT' })],
    ['is signed by nobody', () => `${btoa('{"alg":"none","typ":"at+jwt"}')}.${btoa('{}')}.`],
    ['was changed', async ({ forged }) => (await forged({})).replace(/\.[^.]{8}/, '.AAAAAAAA')],
  ])('says only “not active” about a token that %s', async ([, make], { forged, introspect }) => {
    expect(await introspect(await make({ forged }))).toEqual({ active: false });
  });

  test('the forger above makes valid tokens if nothing is wrong with them', async ({
    forged,
    introspect,
  }) => {
    expect(await introspect(await forged({}))).toMatchObject({ active: true });
  });

  type Given = (clients: {
    web: Client;
    service: Client;
  }) => [Record<string, string>, Record<string, string>];
  test.for<[string, Given]>([
    ['nobody', () => [{}, {}]],
    ['a public client', ({ web }) => [{ client_id: web.clientId }, {}]],
    ['a wrong secret', ({ service }) => [{}, basic({ ...service, secret: 'wrong' })]],
    ['a bearer token', () => [{}, { authorization: 'Bearer abc' }]],
  ])('reveals nothing to %s', async ([, given], { auth, service, userTokens, web }) => {
    const [form, headers] = given({ service, web });
    const { accessToken, refreshToken } = await userTokens();
    for (const token of [accessToken, refreshToken]) {
      const { status, body } = await post(auth, '/introspect', { token, ...form }, headers);
      expect([status, body.error]).toEqual([401, 'invalid_client']);
    }
  });

  test('needs a token', async ({ auth, service }) => {
    const { status, body } = await post(auth, '/introspect', {}, basic(service));
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });
});

describe('/revoke (RFC 7009)', () => {
  test('ends an access token, in every process, and keeps the grant', async ({
    introspect,
    other,
    revoke,
    userTokens,
    web,
  }) => {
    const { accessToken, refreshToken } = await userTokens();
    expect((await revoke(accessToken, { client_id: web.clientId })).status).toBe(200);
    expect(await introspect(accessToken)).toEqual({ active: false });
    expect(await introspect(accessToken, other)).toEqual({ active: false });
    expect(await introspect(refreshToken)).toMatchObject({ active: true });
  });

  test('ends a refresh token together with the grant and its access tokens', async ({
    auth,
    introspect,
    other,
    revoke,
    userTokens,
    web,
  }) => {
    const { accessToken, refreshToken } = await userTokens();
    expect(
      (await revoke(refreshToken, { client_id: web.clientId, token_type_hint: 'refresh_token' })).status,
    ).toBe(200);
    expect(await introspect(refreshToken)).toEqual({ active: false });
    expect(await introspect(accessToken, other)).toEqual({ active: false });
    const { body } = await post(auth, '/token', { client_id: web.clientId, refresh_token: refreshToken });
    expect(body.error).toBe('invalid_grant');
  });

  test.for(['made-up', 'a.b.c', ''])('has nothing to do for %j', async (token, { revoke, web }) => {
    expect((await revoke(token, { client_id: web.clientId })).status).toBe(token === '' ? 400 : 200);
  });

  test('does not end the token of another client', async ({ introspect, revoke, service, userTokens }) => {
    const { accessToken, refreshToken } = await userTokens();
    for (const token of [accessToken, refreshToken]) {
      expect((await revoke(token, {}, basic(service))).body.error).toBe('invalid_request');
      expect(await introspect(token)).toMatchObject({ active: true });
    }
  });

  test('needs a client', async ({ revoke, serviceToken }) => {
    const { status, body } = await revoke(await serviceToken());
    expect([status, body.error]).toEqual([401, 'invalid_client']);
  });
});

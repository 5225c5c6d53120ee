import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoredClient } from '../../auth/clients/client.ts';
import { readSigningKeys } from '../../auth/signing-keys/signing-keys.ts';
import {
  type AuthInstance,
  type AuthWorld,
  createAuthWorld,
  ISSUER,
  registerClient,
  registerPerson,
  serviceClient,
  type TestPerson,
  webClient,
} from '../engines/auth-world.ts';
import { basic, newDpopKey, obtainCode, post } from '../engines/oauth.ts';

// Own server: it compares two servers, and signs with the server's own key.

let world: AuthWorld;
let auth: AuthInstance;
let other: AuthInstance;
let service: StoredClient & { secret: string };
let web: StoredClient;
let person: TestPerson;
beforeAll(async () => {
  world = await createAuthWorld();
  auth = await world.open();
  other = await world.open();
  service = await registerClient(auth, serviceClient);
  web = await registerClient(auth, webClient);
  person = await registerPerson(auth);
});
afterAll(async () => {
  await other?.[Symbol.asyncDispose]();
  await auth?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const introspect = async (token: string, instance = auth) =>
  (await post(instance, '/introspect', { token }, basic(service))).body;
const serviceToken = async (headers: Record<string, string> = {}) =>
  String(
    (await post(auth, '/token', { grant_type: 'client_credentials' }, { ...basic(service), ...headers })).body
      .access_token,
  );
const userTokens = async () => {
  const { code, verifier } = await obtainCode(auth, person, { client_id: web.clientId });
  const { body } = await post(auth, '/token', { client_id: web.clientId, code, code_verifier: verifier });
  return { accessToken: String(body.access_token), refreshToken: String(body.refresh_token) };
};

describe('/introspect (RFC 7662)', () => {
  test('describes an access token', async () => {
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

  test('shows the key that a token is bound to', async () => {
    const key = await newDpopKey();
    expect(await introspect(await serviceToken({ dpop: await key.proof() }))).toMatchObject({
      token_type: 'DPoP',
      cnf: { jkt: key.jkt },
    });
  });

  test('recognises a refresh token', async () => {
    const { refreshToken } = await userTokens();
    expect(await introspect(refreshToken)).toMatchObject({
      active: true,
      client_id: web.clientId,
      sub: String(person.userId),
    });
  });

  const forged = async (
    claims: Record<string, unknown>,
    header: Record<string, unknown> = {},
  ): Promise<string> => {
    const [key] = await readSigningKeys({ pool: auth.pool, masterKey: world.masterKey });
    const now = Math.floor(Date.now() / 1_000);
    const full = {
      iss: ISSUER,
      aud: ISSUER,
      sub: '1',
      client_id: 'x',
      jti: 'j',
      iat: now,
      exp: now + 60,
      ...claims,
    };
    return new SignJWT(full)
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key?.kid, ...header } as never)
      .sign(key as never);
  };
  test.each<[string, () => Promise<string>]>([
    ['is made up', async () => 'made-up'],
    ['has expired', () => forged({ exp: 1 })],
    ['has another issuer', () => forged({ iss: 'https://elsewhere.test' })],
    ['has another audience', () => forged({ aud: 'https://elsewhere.test' })],
    ['is of another type, such as an ID token', () => forged({}, { typ: 'JWT' })],
    ['is signed by nobody', async () => `${btoa('{"alg":"none","typ":"at+jwt"}')}.${btoa('{}')}.`],
    ['was changed', async () => (await serviceToken()).replace(/\.[^.]{8}/, '.AAAAAAAA')],
  ])('says only “not active” about a token that %s', async (_, make) => {
    expect(await introspect(await make())).toEqual({ active: false });
  });

  test('the forger above makes valid tokens if nothing is wrong with them', async () => {
    expect(await introspect(await forged({}))).toMatchObject({ active: true });
  });

  test.each<[string, () => [Record<string, string>, Record<string, string>]]>([
    ['nobody', () => [{}, {}]],
    ['a public client', () => [{ client_id: web.clientId }, {}]],
    ['a wrong secret', () => [{}, basic({ ...service, secret: 'wrong' })]],
    ['a bearer token', () => [{}, { authorization: 'Bearer abc' }]],
  ])('reveals nothing to %s', async (_, given) => {
    const [form, headers] = given();
    const { accessToken, refreshToken } = await userTokens();
    for (const token of [accessToken, refreshToken]) {
      const { status, body } = await post(auth, '/introspect', { token, ...form }, headers);
      expect([status, body.error]).toEqual([401, 'invalid_client']);
    }
  });

  test('needs a token', async () => {
    const { status, body } = await post(auth, '/introspect', {}, basic(service));
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });
});

describe('/revoke (RFC 7009)', () => {
  const revoke = (token: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    post(auth, '/revoke', { token, ...form }, headers);

  test('ends an access token, in every process, and keeps the grant', async () => {
    const { accessToken, refreshToken } = await userTokens();
    expect((await revoke(accessToken, { client_id: web.clientId })).status).toBe(200);
    expect(await introspect(accessToken)).toEqual({ active: false });
    expect(await introspect(accessToken, other)).toEqual({ active: false });
    expect(await introspect(refreshToken)).toMatchObject({ active: true });
  });

  test('ends a refresh token together with the grant and its access tokens', async () => {
    const { accessToken, refreshToken } = await userTokens();
    expect(
      (await revoke(refreshToken, { client_id: web.clientId, token_type_hint: 'refresh_token' })).status,
    ).toBe(200);
    expect(await introspect(refreshToken)).toEqual({ active: false });
    expect(await introspect(accessToken, other)).toEqual({ active: false });
    const { body } = await post(auth, '/token', { client_id: web.clientId, refresh_token: refreshToken });
    expect(body.error).toBe('invalid_grant');
  });

  test.each(['made-up', 'a.b.c', ''])('has nothing to do for %j', async (token) => {
    expect((await revoke(token, { client_id: web.clientId })).status).toBe(token === '' ? 400 : 200);
  });

  test('does not end the token of another client', async () => {
    const { accessToken, refreshToken } = await userTokens();
    for (const token of [accessToken, refreshToken]) {
      expect((await revoke(token, {}, basic(service))).body.error).toBe('invalid_request');
      expect(await introspect(token)).toMatchObject({ active: true });
    }
  });

  test('needs a client', async () => {
    const { status, body } = await revoke(await serviceToken());
    expect([status, body.error]).toEqual([401, 'invalid_client']);
  });
});

import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import * as client from 'openid-client';
import { describe, expect } from 'vitest';
import { ACCOUNT_CLIENT_ID } from '#shared/policy.ts';
import { CONSOLE } from '../../auth/storage/client.ts';
import { CALLBACK, ISSUER, registerClient, serviceClient, webClient } from '../engines/auth-database.ts';
import { test as base } from '../engines/auth-fixture.ts';
import { openBrowser, signInAndAllow } from '../engines/browser.ts';
import { system } from '../engines/command-side.ts';
import { basic, newVerifier, post } from '../engines/oauth.ts';

// Own server: it demands FAPI 2.0 of all clients.

const by = () => ({ caller: system, requestId: randomUUID() });

/** The FAPI 2.0 Security Profile, followed by a client of the independent library `openid-client`. */
const test = base
  .extend('keys', { scope: 'file' }, () => generateKeyPair('ES256'))
  /** From before the profile. */
  .extend('former', { scope: 'file' }, async ({ database }) => {
    await using before = await database.open();
    return await registerClient(before, serviceClient);
  })
  .extend('auth', { scope: 'file' }, async ({ database, former: _ }, { onCleanup }) => {
    const auth = await database.open({ settings: { OAUTH_PROFILE: 'fapi-2.0' } });
    onCleanup(() => auth[Symbol.asyncDispose]());
    return auth;
  })
  .extend('settings', { scope: 'file' }, async ({ keys }) => ({
    ...webClient,
    tokenEndpointAuthMethod: 'private_key_jwt',
    jwks: { keys: [{ ...(await exportJWK(keys.publicKey)), alg: 'ES256', use: 'sig' }] },
    requirePar: true,
    requireDpop: true,
  }))
  .extend('bank', { scope: 'file' }, ({ auth, settings }) => registerClient(auth, settings))
  .extend(
    'config',
    { scope: 'file' },
    async ({ auth, bank, keys }) =>
      await client.discovery(
        new URL(ISSUER),
        bank.clientId,
        undefined,
        client.PrivateKeyJwt(keys.privateKey),
        { [client.customFetch]: auth.fetch as never },
      ),
  )
  /** An assertion of the client’s key, with other claims. */
  .extend('assertion', ({ bank, keys }) => async (claims: Readonly<Record<string, unknown>> = {}) => {
    const nowS = Math.floor(Date.now() / 1_000);
    const jwt = new SignJWT({
      iss: bank.clientId,
      sub: bank.clientId,
      aud: ISSUER,
      jti: randomUUID(),
      iat: nowS,
      exp: nowS + 60,
      ...claims,
    });
    return {
      client_id: bank.clientId,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await jwt.setProtectedHeader({ alg: 'ES256' }).sign(keys.privateKey),
    };
  });

test('a client gets tokens bound to its key, and keeps its refresh token', async ({
  auth,
  config,
  person,
}) => {
  const options = { DPoP: client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256')) };
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const parameters = {
    redirect_uri: CALLBACK,
    scope: 'openid read:articles',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: client.randomState(),
  };
  const url = await client.buildAuthorizationUrlWithPAR(config, parameters, options);
  const end = await signInAndAllow(openBrowser(auth), url.href, person);
  const checks = { pkceCodeVerifier, expectedState: parameters.state };
  const tokens = await client.authorizationCodeGrant(config, end.url, checks, undefined, options);
  expect(tokens.token_type).toBe('dpop');
  const refreshToken = String(tokens.refresh_token);
  const once = await client.refreshTokenGrant(config, refreshToken, undefined, options);
  expect(once.refresh_token).toBe(refreshToken);
  expect((await client.refreshTokenGrant(config, refreshToken, undefined, options)).token_type).toBe('dpop');
});

describe('a request is refused', () => {
  test('that is not pushed', async ({ auth, bank }) => {
    const url = `${ISSUER}/authorize?${new URLSearchParams({
      client_id: bank.clientId,
      redirect_uri: CALLBACK,
      response_type: 'code',
      code_challenge: newVerifier().challenge,
      code_challenge_method: 'S256',
    })}`;
    const { searchParams } = (await openBrowser(auth).visit(url)).url;
    expect(searchParams.get('error')).toBe('invalid_request');
  });

  test.for<[string, Readonly<Record<string, unknown>>]>([
    ['whose assertion is for the token endpoint', { aud: `${ISSUER}/token` }],
    ['whose assertion is for a list of audiences', { aud: [ISSUER] }],
    ['whose assertion is from later', { nbf: Math.floor(Date.now() / 1_000) + 3_600 }],
  ])('%s', async ([, claims], { auth, assertion }) => {
    const form = {
      ...(await assertion(claims)),
      redirect_uri: CALLBACK,
      code_challenge: newVerifier().challenge,
    };
    expect(await post(auth, '/par', form)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('without its redirect URI, though the client has only one', async ({ auth, assertion }) => {
    const form = { ...(await assertion()), code_challenge: newVerifier().challenge };
    expect(await post(auth, '/par', form)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(
      (await post(auth, '/par', { ...form, ...(await assertion()), redirect_uri: CALLBACK })).status,
    ).toBe(201);
  });
});

describe('a client is refused', () => {
  test.for<[field: string, broken: object]>([
    ['tokenEndpointAuthMethod', { tokenEndpointAuthMethod: 'client_secret_basic', jwks: null }],
    ['requirePar', { requirePar: false }],
    ['requireDpop', { requireDpop: false }],
  ])('because of %s, at registration and at a change', async ([field, broken], { auth, bank, settings }) => {
    const refusal = { code: 'invalid_command', details: { errors: [{ pointer: `/${field}` }] } };
    await expect(registerClient(auth, { ...settings, ...broken })).rejects.toMatchObject(refusal);
    const apply = (before: object) => ({ ...before, ...broken }) as never;
    await expect(auth.service.clients.change(bank.clientId, { apply }, by())).rejects.toMatchObject(refusal);
  });

  test('that is from before the profile: it gets no token, and may be disabled', async ({ auth, former }) => {
    const form = { grant_type: 'client_credentials' };
    expect(await post(auth, '/token', form, basic(former))).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    });
    const apply = (before: object) => ({ ...before, disabled: true }) as never;
    expect((await auth.service.clients.change(former.clientId, { apply }, by())).client.disabled).toBe(true);
  });
});

test('the console and the account pages work, though they are public', async ({ auth }) => {
  for (const clientId of [CONSOLE, ACCOUNT_CLIENT_ID])
    expect(await auth.service.clients.find(clientId)).toMatchObject({ disabled: false });
});

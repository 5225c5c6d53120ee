import { exportJWK, generateKeyPair } from 'jose';
import * as client from 'openid-client';
import { describe, expect } from 'vitest';
import { CALLBACK, ISSUER, serviceClient, webClient } from '../engines/auth-database.ts';
import { sharedAuthTest } from '../engines/auth-site.ts';
import { openBrowser, signInAndAllow } from '../engines/browser.ts';
import { CLIENT } from '../engines/certificates.ts';
import { DEVICE_GRANT, enterUserCode } from '../engines/oauth.ts';

/** The unmodified library, used as in its documentation; it checks every answer against the RFCs. */

const test = sharedAuthTest.extend(
  'discover',
  { scope: 'file' },
  ({ auth }) =>
    (clientId: string, proof: client.ClientAuth = client.None(), fetchIt: typeof fetch = auth.fetch) =>
      client.discovery(new URL(ISSUER), clientId, undefined, proof, {
        [client.customFetch]: fetchIt as never,
      }),
);

const bind = async (bound: 'bearer' | 'DPoP', config: client.Configuration) =>
  bound === 'DPoP' ? { DPoP: client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256')) } : {};

describe.each(['bearer', 'DPoP'] as const)('with %s tokens', (bound) => {
  test.for<[way: string, scope: string]>([
    ['directly', 'openid email'],
    ['directly', 'openid profile email read:articles'],
    ['by a pushed request', 'openid profile email read:articles'],
  ])(
    'authorization code %s for "%s", user info, refresh, revocation, and sign-out',
    async ([way, scope], { auth, discover, person, web }) => {
      const config = await discover(web.clientId);
      const options = await bind(bound, config);
      const pkceCodeVerifier = client.randomPKCECodeVerifier();
      const parameters = {
        redirect_uri: CALLBACK,
        scope,
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        state: client.randomState(),
        nonce: client.randomNonce(),
      };
      const url =
        way === 'directly'
          ? client.buildAuthorizationUrl(config, parameters)
          : await client.buildAuthorizationUrlWithPAR(config, parameters, options);
      const browser = openBrowser(auth);
      const end = await signInAndAllow(browser, url.href, person);
      const checks = { pkceCodeVerifier, expectedState: parameters.state, expectedNonce: parameters.nonce };
      const tokens = await client.authorizationCodeGrant(config, end.url, checks, undefined, options);
      expect(tokens.token_type).toBe(bound.toLowerCase());
      const sub = tokens.claims()?.sub ?? '';
      const user = await client.fetchUserInfo(config, tokens.access_token, sub, options);
      expect(user.email).toBe(person.email);
      expect(sub).toBe(String(person.userId));
      expect(tokens.scope).toBe(scope);
      const refreshed = await client.refreshTokenGrant(
        config,
        tokens.refresh_token ?? '',
        undefined,
        options,
      );
      expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
      await client.tokenRevocation(config, refreshed.refresh_token ?? '');
      await expect(
        client.refreshTokenGrant(config, refreshed.refresh_token ?? '', undefined, options),
      ).rejects.toThrow();

      const signOut = client.buildEndSessionUrl(config, {
        id_token_hint: tokens.id_token ?? '',
        post_logout_redirect_uri: 'https://app.test/signed-out',
        state: 'kept',
      });
      const asked = await browser.visit(signOut.href);
      expect((await browser.submit(asked, { logout: 'yes' })).url.href).toBe(
        'https://app.test/signed-out?state=kept',
      );
      expect(
        (await browser.visit(client.buildAuthorizationUrl(config, parameters).href)).url.pathname,
      ).toMatch(/^\/sign-in\//);
    },
  );

  test('client credentials and introspection', async ({ discover, service }) => {
    const config = await discover(service.clientId, client.ClientSecretPost(service.secret));
    const tokens = await client.clientCredentialsGrant(
      config,
      { scope: 'read:articles' },
      await bind(bound, config),
    );
    expect(await client.tokenIntrospection(config, tokens.access_token)).toMatchObject({
      active: true,
      scope: 'read:articles',
    });
    await client.tokenRevocation(config, tokens.access_token);
    expect(await client.tokenIntrospection(config, tokens.access_token)).toEqual({ active: false });
  });

  test('device code', async ({ auth, discover, person }) => {
    const device = await auth.registerClient({
      grantTypes: [DEVICE_GRANT],
      scopes: ['read:articles'],
      defaultScopes: ['read:articles'],
    });
    const config = await discover(device.clientId);
    const started = await client.initiateDeviceAuthorization(config, {});
    await enterUserCode(auth, person, started.user_code);
    // The server answers the first poll at once, although five seconds would be correct.
    const tokens = await client.pollDeviceAuthorizationGrant(
      config,
      { ...started, interval: 0.01 },
      undefined,
      await bind(bound, config),
    );
    expect(tokens.scope).toBe('read:articles');
  });
});

test('a client that must push its authorization requests is refused without', async ({ auth, discover }) => {
  const pushing = await auth.registerClient({ ...webClient, requirePar: true });
  const parameters = {
    redirect_uri: CALLBACK,
    code_challenge: 'A'.repeat(43),
    code_challenge_method: 'S256',
  };
  const url = client.buildAuthorizationUrl(await discover(pushing.clientId), parameters);
  const { searchParams } = (await openBrowser(auth).visit(url.href)).url;
  expect(searchParams.get('error')).toBe('invalid_request');
});

test('a client assertion (private_key_jwt), used once', async ({ auth, discover }) => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig', kid: 'one' }] };
  const robot = { ...serviceClient, tokenEndpointAuthMethod: 'private_key_jwt', jwks };
  const { clientId } = await auth.registerClient(robot);
  let sent: RequestInit | undefined;
  const recording: typeof fetch = (input, init) => {
    sent = init;
    return auth.fetch(input, init);
  };
  const config = await discover(clientId, client.PrivateKeyJwt({ key: privateKey, kid: 'one' }), recording);
  expect((await client.clientCredentialsGrant(config)).access_token).toBeTruthy();
  expect((await auth.fetch(`${ISSUER}/token`, sent)).status).toBe(401);
});

test('mutual TLS', async ({ auth, discover }) => {
  const robot = await auth.registerClient({
    ...serviceClient,
    tokenEndpointAuthMethod: 'tls_client_auth',
    tlsClientAuthSubject: 'CN=robot,O=Annals tests',
  });
  const config = await discover(robot.clientId, client.TlsClientAuth(), auth.fetchAs(CLIENT));
  expect((await client.clientCredentialsGrant(config)).access_token).toBeTruthy();
});

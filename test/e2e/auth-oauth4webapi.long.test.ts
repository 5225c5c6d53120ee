import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthSite, type SiteClient, shareAuthSite } from '../engines/auth-site.ts';
import { CALLBACK, ISSUER, serviceClient, type TestPerson, webClient } from '../engines/auth-world.ts';
import { openBrowser, signInAndAllow } from '../engines/browser.ts';
import { CLIENT } from '../engines/certificates.ts';
import { DEVICE_GRANT, enterUserCode } from '../engines/oauth.ts';

// The unmodified library, which checks every answer against the RFCs.
let auth: AuthSite;
let person: TestPerson;
let web: SiteClient;
let service: SiteClient;
let server: oauth.AuthorizationServer;
let options: { [oauth.customFetch]: typeof fetch };
beforeAll(async () => {
  // The strict mode; the library then has to get a nonce first.
  auth = await shareAuthSite();
  person = await auth.registerPerson();
  web = await auth.registerClient(webClient);
  service = await auth.registerClient(serviceClient);
  options = { [oauth.customFetch]: auth.fetch };
  const response = await oauth.discoveryRequest(new URL(ISSUER), options as never);
  server = await oauth.processDiscoveryResponse(new URL(ISSUER), response);
});
afterAll(() => auth?.[Symbol.asyncDispose]());

const clientOf = ({ clientId }: { clientId: string }): oauth.Client => ({ client_id: clientId });

/** As in the library's documentation: retries once with the server's nonce. */
const withNonce = async <Result>(
  request: () => Promise<Response>,
  process: (response: Response) => Promise<Result>,
): Promise<Result> => {
  try {
    return await process(await request());
  } catch (error) {
    if (!oauth.isDPoPNonceError(error)) throw error;
    return process(await request());
  }
};

const bindings = async (bound: 'bearer' | 'DPoP', client: oauth.Client) =>
  bound === 'DPoP' ? { ...options, DPoP: oauth.DPoP(client, await oauth.generateKeyPair('ES256')) } : options;

describe.each(['bearer', 'DPoP'] as const)('with %s tokens', (bound) => {
  test('authorization code with PKCE, user info, refresh, introspection, and revocation', async () => {
    const client = clientOf(web);
    const bind = await bindings(bound, client);
    const verifier = oauth.generateRandomCodeVerifier();
    const url = new URL(server.authorization_endpoint ?? '');
    const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
    url.search = new URLSearchParams({
      client_id: web.clientId,
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid profile email',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    }).toString();
    const end = await signInAndAllow(openBrowser(auth), url.href, person);
    const callback = oauth.validateAuthResponse(server, client, end.url, state);
    const tokens = await withNonce(
      () =>
        oauth.authorizationCodeGrantRequest(
          server,
          client,
          oauth.None(),
          callback,
          CALLBACK,
          verifier,
          bind as never,
        ),
      (response) =>
        oauth.processAuthorizationCodeResponse(server, client, response, {
          expectedNonce: nonce,
          requireIdToken: true,
        }),
    );
    expect(tokens.token_type).toBe(bound.toLowerCase());
    const sub = oauth.getValidatedIdTokenClaims(tokens)?.sub ?? '';
    expect(sub).toBe(String(person.userId));

    const user = await withNonce(
      () => oauth.userInfoRequest(server, client, tokens.access_token, bind as never),
      (response) => oauth.processUserInfoResponse(server, client, sub, response),
    );
    expect(user).toMatchObject({ name: 'Ada Lovelace', email: person.email });

    const refreshed = await withNonce(
      () =>
        oauth.refreshTokenGrantRequest(
          server,
          client,
          oauth.None(),
          tokens.refresh_token ?? '',
          bind as never,
        ),
      (response) => oauth.processRefreshTokenResponse(server, client, response),
    );
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);

    const introspected = async () => {
      const resourceServer = clientOf(service);
      const proof = oauth.ClientSecretBasic(service.secret);
      const response = await oauth.introspectionRequest(
        server,
        resourceServer,
        proof,
        refreshed.refresh_token ?? '',
        options as never,
      );
      return (await oauth.processIntrospectionResponse(server, resourceServer, response)).active;
    };
    expect(await introspected()).toBe(true);
    const revoked = await oauth.revocationRequest(
      server,
      client,
      oauth.None(),
      refreshed.refresh_token ?? '',
      options as never,
    );
    await oauth.processRevocationResponse(revoked);
    expect(await introspected()).toBe(false);
  });

  test('a pushed authorization request', async () => {
    const pushing = await auth.registerClient({ ...webClient, requirePar: true });
    const client = clientOf(pushing);
    const bind = await bindings(bound, client);
    const verifier = oauth.generateRandomCodeVerifier();
    const parameters = new URLSearchParams({
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'read:articles',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const pushed = await withNonce(
      () => oauth.pushedAuthorizationRequest(server, client, oauth.None(), parameters, bind as never),
      (response) => oauth.processPushedAuthorizationResponse(server, client, response),
    );
    const query = new URLSearchParams({ client_id: pushing.clientId, request_uri: pushed.request_uri });
    const end = await signInAndAllow(openBrowser(auth), `${server.authorization_endpoint}?${query}`, person);
    const callback = oauth.validateAuthResponse(server, client, end.url, oauth.expectNoState);
    const tokens = await withNonce(
      () =>
        oauth.authorizationCodeGrantRequest(
          server,
          client,
          oauth.None(),
          callback,
          CALLBACK,
          verifier,
          bind as never,
        ),
      (response) => oauth.processAuthorizationCodeResponse(server, client, response),
    );
    expect(tokens.scope).toBe('read:articles');
    // A client that must push is refused otherwise.
    const direct = await openBrowser(auth).visit(
      `${server.authorization_endpoint}?client_id=${pushing.clientId}&${parameters}`,
    );
    expect(direct.url.searchParams.get('error')).toBe('invalid_request');
  });

  test('client credentials', async () => {
    const client = clientOf(service);
    const bind = await bindings(bound, client);
    const tokens = await withNonce(
      () =>
        oauth.clientCredentialsGrantRequest(
          server,
          client,
          oauth.ClientSecretBasic(service.secret),
          new URLSearchParams(),
          bind as never,
        ),
      (response) => oauth.processClientCredentialsResponse(server, client, response),
    );
    expect(tokens).toMatchObject({
      token_type: bound.toLowerCase(),
      expires_in: 300,
      scope: 'read:articles',
    });
  });

  test('device code', async () => {
    const device = await auth.registerClient({
      grantTypes: [DEVICE_GRANT],
      scopes: ['read:articles'],
      defaultScopes: ['read:articles'],
    });
    const client = clientOf(device);
    const bind = await bindings(bound, client);
    const started = await oauth.processDeviceAuthorizationResponse(
      server,
      client,
      await oauth.deviceAuthorizationRequest(
        server,
        client,
        oauth.None(),
        new URLSearchParams(),
        options as never,
      ),
    );
    expect(started.interval).toBe(5);
    await enterUserCode(auth, person, started.user_code);
    const tokens = await withNonce(
      () => oauth.deviceCodeGrantRequest(server, client, oauth.None(), started.device_code, bind as never),
      (response) => oauth.processDeviceCodeResponse(server, client, response),
    );
    expect(tokens.token_type).toBe(bound.toLowerCase());
  });
});

test('a client assertion (private_key_jwt), used once', async () => {
  const { privateKey, publicKey } = await oauth.generateKeyPair('ES256', { extractable: true });
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey);
  const jwks = { keys: [{ kty, crv, x, y, alg: 'ES256', use: 'sig', kid: 'one' }] };
  const client = clientOf(
    await auth.registerClient({ ...serviceClient, tokenEndpointAuthMethod: 'private_key_jwt', jwks }),
  );
  let sent: RequestInit | undefined;
  const recording: typeof fetch = (input, init) => {
    sent = init;
    return auth.fetch(input, init);
  };
  const proof = oauth.PrivateKeyJwt({ key: privateKey, kid: 'one' });
  const response = await oauth.clientCredentialsGrantRequest(server, client, proof, new URLSearchParams(), {
    [oauth.customFetch]: recording as never,
  });
  expect((await oauth.processClientCredentialsResponse(server, client, response)).token_type).toBe('bearer');
  expect((await auth.fetch(`${ISSUER}/token`, sent)).status).toBe(401);
});

test('mutual TLS', async () => {
  const robot = await auth.registerClient({
    ...serviceClient,
    tokenEndpointAuthMethod: 'tls_client_auth',
    tlsClientAuthSubject: 'CN=robot,O=Annals tests',
  });
  const client: oauth.Client = { ...clientOf(robot), use_mtls_endpoint_aliases: true };
  const response = await oauth.clientCredentialsGrantRequest(
    server,
    client,
    oauth.TlsClientAuth(),
    new URLSearchParams(),
    {
      [oauth.customFetch]: auth.fetchAs(CLIENT) as never,
    },
  );
  expect((await oauth.processClientCredentialsResponse(server, client, response)).access_token).toBeTruthy();
});

// Over 200 lines, because every kind of token is tried on the two processes that are set up here.
import { once } from 'node:events';
import { createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { ISSUER, registerClient, serviceClient } from '../engines/auth-database.ts';
import { INGRESS_SECRET, test as processes } from '../engines/auth-process.ts';
import { createCertificate, type TestCertificate } from '../engines/certificate.ts';
import { basic, newDpopKey, post } from '../engines/oauth.ts';

// Own server: it compares two servers.

const SCOPES = ['manage:clients', 'write:users', 'read:articles', 'write:articles'];
const ADMIN = { ...serviceClient, scopes: SCOPES, defaultScopes: SCOPES, serviceAccountRole: 'admin' };

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

const header = ({ certificate }: TestCertificate) => ({
  'X-Client-Cert': encodeURIComponent(certificate),
  'X-Client-Cert-Secret': INGRESS_SECRET,
});

type Credentials = Parameters<typeof basic>[0];
type Sent = Record<string, string>;

const test = processes
  .extend('admin', { scope: 'file' }, ({ one }) => registerClient(one.auth, ADMIN))
  .extend('obtain', { scope: 'file' }, ({ one }) => async (client: Credentials, headers: Sent = {}) => {
    const form = { grant_type: 'client_credentials' };
    const { status, body } = await post(one.auth, '/token', form, { ...basic(client), ...headers });
    expect({ status, body }).toMatchObject({ status: 200 });
    return String(body.access_token);
  })
  .extend(
    'call',
    { scope: 'file' },
    ({ one }) =>
      async (
        path: string,
        headers: Sent,
        { base = one.url, ...init }: RequestInit & { base?: string } = {},
      ) => {
        const response = await fetch(`${base}${path}`, {
          ...init,
          headers: { 'Content-Type': 'application/json', ...headers },
        });
        const text = await response.text();
        const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
        return { status: response.status, body };
      },
  )
  .extend('mine', { scope: 'file' }, () => createCertificate('mine'))
  .extend('stranger', { scope: 'file' }, () => createCertificate('stranger'))
  .extend('boundToken', { scope: 'file' }, async ({ mine, one }) => {
    const { x5c, kty, crv, x, y } = mine.jwk;
    const jwks = { keys: [{ kty, crv, x, y, x5c }] };
    const method = { tokenEndpointAuthMethod: 'self_signed_tls_client_auth', jwks };
    const { clientId } = await registerClient(one.auth, { ...ADMIN, ...method });
    const { status, body } = await post(
      one.auth,
      '/token',
      { grant_type: 'client_credentials', client_id: clientId },
      header(mine),
    );
    expect({ status, body }).toMatchObject({ status: 200 });
    const token = String(body.access_token);
    expect(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).cnf).toEqual({
      'x5t#S256': mine.thumbprint,
    });
    return token;
  });

test('a client made by REST gets tokens at once, in every process, and none after its deletion', async ({
  admin,
  call,
  obtain,
  one,
  other,
}) => {
  const manager = bearer(await obtain(admin));
  const made = await call('/clients', manager, {
    method: 'POST',
    body: JSON.stringify({ name: 'Importer', ...serviceClient }),
  });
  expect(made.status).toBe(201);
  const client = { clientId: String(made.body.clientId), secret: String(made.body.secret) };
  const token = bearer(await obtain(client));
  for (const base of [one.url, other.url])
    expect(await call('/clients', token, { base })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    });
  expect(
    await call(`/clients/${client.clientId}`, manager, { method: 'DELETE', base: other.url }),
  ).toMatchObject({ status: 204 });
  for (const base of [one.url, other.url])
    await until(
      () => call('/clients', token, { base }),
      ({ status }) => status === 401,
      3_000,
    );
  await until(
    () => post(one.auth, '/token', { grant_type: 'client_credentials' }, basic(client)),
    ({ status, body }) => status === 401 && body.error === 'invalid_client',
    3_000,
  );
});

test('a token that its client revokes is refused within seconds', async ({
  admin,
  call,
  obtain,
  one,
  other,
}) => {
  const token = await obtain(admin);
  expect(await call('/clients', bearer(token))).toMatchObject({ status: 200 });
  expect(await post(one.auth, '/revoke', { token }, basic(admin))).toMatchObject({ status: 200 });
  for (const base of [one.url, other.url])
    await until(
      () => call('/clients', bearer(token), { base }),
      ({ status }) => status === 401,
      3_000,
    );
  expect(await call('/clients', bearer(await obtain(admin)))).toMatchObject({ status: 200 });
});

describe('a DPoP token of the authorization server', () => {
  test('works with a proof, once, at every process', async ({ admin, call, obtain, one, other }) => {
    const key = await newDpopKey();
    const token = await obtain(admin, { dpop: await key.proof() });
    const ath = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(token))).toString('base64url');
    const proof = () => key.proof({ htm: 'GET', htu: `${ISSUER}/clients`, ath });
    const dpop = async (base: string, value: Promise<string>) =>
      call('/clients?limit=1', { Authorization: `DPoP ${token}`, DPoP: await value }, { base });
    expect(await dpop(one.url, proof())).toMatchObject({ status: 200 });
    expect(await dpop(other.url, proof())).toMatchObject({ status: 200 });
    const spent = proof();
    const answers = await Promise.all(
      [one.url, other.url, one.url, other.url].map((base) => dpop(base, spent)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await call('/clients', bearer(token))).toMatchObject({ status: 401 });
    // The proof for the token endpoint is not one for the resource.
    expect(await dpop(one.url, key.proof())).toMatchObject({
      status: 401,
      body: { code: 'invalid_dpop_proof' },
    });
  });
});

describe('a token bound to a certificate', () => {
  test('works with it behind the ingress, and neither without nor with another', async ({
    boundToken,
    call,
    mine,
    stranger,
  }) => {
    expect(await call('/clients', { ...bearer(boundToken), ...header(mine) })).toMatchObject({ status: 200 });
    expect(await call('/clients', { ...bearer(boundToken), ...header(stranger) })).toMatchObject({
      status: 401,
      body: { code: 'invalid_token' },
    });
    expect(
      await call('/clients', {
        ...bearer(boundToken),
        'X-Client-Cert': 'garbage%',
        'X-Client-Cert-Secret': INGRESS_SECRET,
      }),
    ).toMatchObject({ status: 401 });
    expect(await call('/clients', bearer(boundToken))).toMatchObject({
      status: 401,
      body: { code: 'invalid_token' },
    });
  });

  test('works with it by direct TLS, which ignores the header', async ({
    boundToken,
    mine,
    one,
    stranger,
  }) => {
    const { certificate: cert, key } = await createCertificate('server');
    const server = createServer({ cert, key, requestCert: true, rejectUnauthorized: false }, one.handler);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const get = async (
      own: TestCertificate | undefined,
      headers: Record<string, string> = {},
    ): Promise<number | undefined> => {
      const identity = own && { cert: own.certificate, key: own.key };
      const options = {
        port,
        host: '127.0.0.1',
        path: '/clients',
        ca: cert,
        agent: false,
        ...identity,
        headers: { ...bearer(boundToken), ...headers },
      } as const;
      const request = httpsRequest(options).end();
      const [response] = await once(request, 'response');
      response.resume();
      return response.statusCode;
    };
    try {
      expect(await get(mine)).toBe(200);
      expect(await get(stranger)).toBe(401);
      expect(await get(stranger, header(mine))).toBe(401);
      expect(await get(undefined, header(mine))).toBe(401);
    } finally {
      server.close().closeAllConnections();
    }
  });
});

test('a self-registered application can sign users in', async ({ call, one }) => {
  const metadata = {
    client_name: 'Agent',
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
  };
  const { status, body } = await call('/register', {}, { method: 'POST', body: JSON.stringify(metadata) });
  expect(status).toBe(201);
  const query = { client_id: String(body.client_id), code_challenge: 'A'.repeat(43), scope: 'read:articles' };
  // A native application takes any port (RFC 8252, section 7.3).
  for (const redirect of ['http://127.0.0.1/callback', 'http://127.0.0.1:53682/callback']) {
    const answer = await fetch(
      `${one.url}/authorize?${new URLSearchParams({ ...query, redirect_uri: redirect })}`,
      { redirect: 'manual' },
    );
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toContain('/sign-in/');
  }
  const discovery = await (await fetch(`${one.url}/.well-known/oauth-authorization-server`)).json();
  expect(discovery).toMatchObject({ registration_endpoint: `${ISSUER}/register` });
});

import { createHash, X509Certificate } from 'node:crypto';
import { decodeJwt, exportJWK, importX509 } from 'jose';
import { describe, expect } from 'vitest';
import { ISSUER, registerClient, serviceClient } from '../engines/auth-database.ts';
import { test as base } from '../engines/auth-fixture.ts';
import { CLIENT, STRANGER } from '../engines/certificates.ts';
import { fetchWithCertificate, serveTls } from '../engines/tls-fetch.ts';

// Own server: it acts as the ingress, honestly and falsely.

type Pair = typeof CLIENT;

/** The ingress proves its identity with it. */
const SECRET = 'ingress-secret-of-the-tests';

const certificateJwk = async ({ cert }: Pair) => {
  const { kty, crv, x, y } = await exportJWK(await importX509(cert, 'ES256', { extractable: true }));
  return { kty, crv, x, y, use: 'sig', x5c: [new X509Certificate(cert).raw.toString('base64')] };
};

const thumbprintOf = ({ cert }: Pair) =>
  createHash('sha256').update(new X509Certificate(cert).raw).digest('base64url');

const ask = async (fetchIt: typeof fetch, clientId: string, headers: Record<string, string> = {}) => {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId });
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await fetchIt(`${ISSUER}/token`, {
    method: 'POST',
    body,
    headers: { ...form, ...headers },
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
};

const test = base
  .extend('tls', { scope: 'file' }, async ({ auth }, { onCleanup }) => {
    const tls = await serveTls(auth.handler);
    onCleanup(() => tls[Symbol.asyncDispose]());
    return tls;
  })
  .extend('behindProxy', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const settings = { TRUST_PROXY: '1', CLIENT_CERT_SECRET: SECRET };
    const behindProxy = await database.open({ settings });
    onCleanup(() => behindProxy[Symbol.asyncDispose]());
    return behindProxy;
  })
  .extend('known', { scope: 'file' }, ({ auth }) =>
    registerClient(auth, {
      ...serviceClient,
      tokenEndpointAuthMethod: 'tls_client_auth',
      tlsClientAuthSubject: 'CN=robot, O=Annals tests',
    }),
  )
  .extend('selfSigned', { scope: 'file' }, async ({ auth }) =>
    registerClient(auth, {
      ...serviceClient,
      tokenEndpointAuthMethod: 'self_signed_tls_client_auth',
      jwks: { keys: [await certificateJwk(STRANGER)] },
    }),
  )
  /** Requests with a certificate. */
  .extend('by', { scope: 'file' }, ({ tls }) => (pair: Pair | undefined) => {
    return fetchWithCertificate(tls.url, pair);
  });

describe('with direct TLS', () => {
  test('a certificate of a known authority authenticates the client, and binds the token (RFC 8705)', async ({
    by,
    known,
  }) => {
    const { status, body } = await ask(by(CLIENT), known.clientId);
    expect(status).toBe(200);
    expect(decodeJwt(String(body.access_token)).cnf).toEqual({ 'x5t#S256': thumbprintOf(CLIENT) });
  });

  test('and so does a registered self-signed certificate', async ({ by, selfSigned }) => {
    const { status, body } = await ask(by(STRANGER), selfSigned.clientId);
    expect(status).toBe(200);
    expect(decodeJwt(String(body.access_token)).cnf).toEqual({ 'x5t#S256': thumbprintOf(STRANGER) });
  });

  test.for<[string, Pair | undefined, 'known' | 'selfSigned']>([
    ['no certificate', undefined, 'known'],
    ['the right name signed by nobody we know', STRANGER, 'known'],
    ['no certificate for a registered one', undefined, 'selfSigned'],
    ['another certificate than the registered one', CLIENT, 'selfSigned'],
  ])('is refused with %s', async ([_, pair, client], { by, known, selfSigned }) => {
    const { status, body } = await ask(by(pair), { known, selfSigned }[client].clientId);
    expect([status, body.error]).toEqual([401, 'invalid_client']);
  });

  test('is refused for another name', async ({ auth, by }) => {
    const other = await registerClient(auth, {
      ...serviceClient,
      tokenEndpointAuthMethod: 'tls_client_auth',
      tlsClientAuthSubject: 'CN=another,O=Annals tests',
    });
    expect((await ask(by(CLIENT), other.clientId)).body.error).toBe('invalid_client');
  });

  test('ignores the header of an ingress', async ({ by, known }) => {
    const { body } = await ask(by(undefined), known.clientId, headersOf(CLIENT));
    expect(body.error).toBe('invalid_client');
  });
});

const headersOf = ({ cert }: Pair, verify = 'SUCCESS') => ({
  'x-client-cert': encodeURIComponent(cert),
  'x-client-verify': verify,
  'x-client-cert-secret': SECRET,
});

describe('behind an ingress', () => {
  test('its header counts with the right secret', async ({ behindProxy, known }) => {
    const { status, body } = await ask(behindProxy.fetch, known.clientId, headersOf(CLIENT));
    expect(status).toBe(200);
    expect(decodeJwt(String(body.access_token)).cnf).toEqual({ 'x5t#S256': thumbprintOf(CLIENT) });
  });

  test('a certificate that the ingress has not verified counts only if it is itself registered', async ({
    behindProxy,
    known,
    selfSigned,
  }) => {
    expect(
      (await ask(behindProxy.fetch, known.clientId, headersOf(STRANGER, 'FAILED:self-signed'))).body.error,
    ).toBe('invalid_client');
    expect(
      (await ask(behindProxy.fetch, selfSigned.clientId, headersOf(STRANGER, 'FAILED:self-signed'))).status,
    ).toBe(200);
  });

  test.for<[string, Record<string, string>]>([
    ['nothing', { 'x-client-cert': '', 'x-client-verify': 'NONE' }],
    ['rubbish', { 'x-client-cert': 'rubbish', 'x-client-verify': 'SUCCESS' }],
    ['a broken escape', { 'x-client-cert': '%', 'x-client-verify': 'SUCCESS' }],
  ])('%s in it does not count as a certificate', async ([_, headers], { behindProxy, known }) => {
    expect(
      (await ask(behindProxy.fetch, known.clientId, { ...headers, 'x-client-cert-secret': SECRET })).body
        .error,
    ).toBe('invalid_client');
  });

  test.for<[string, Record<string, string>]>([
    ['without the secret', {}],
    ['with a wrong secret', { 'x-client-cert-secret': `${SECRET}x` }],
    ['with an empty secret', { 'x-client-cert-secret': '' }],
  ])('%s anybody could have sent it, so it does not count', async ([_, secret], { behindProxy, known }) => {
    const { 'x-client-cert-secret': __, ...headers } = headersOf(CLIENT);
    expect((await ask(behindProxy.fetch, known.clientId, { ...headers, ...secret })).body.error).toBe(
      'invalid_client',
    );
  });

  test('without a configured secret it never counts', async ({ auth, known }) => {
    expect((await ask(auth.fetch, known.clientId, headersOf(CLIENT))).body.error).toBe('invalid_client');
  });
});

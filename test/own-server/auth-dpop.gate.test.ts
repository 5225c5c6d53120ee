import { decodeJwt, generateSecret, SignJWT } from 'jose';
import { describe, expect } from 'vitest';
import { CALLBACK, ISSUER, registerClient, webClient } from '../engines/auth-database.ts';
import { test as base } from '../engines/auth-fixture.ts';
import { basic, newDpopKey, obtainCode, post } from '../engines/oauth.ts';

// Own server: it compares two servers.

type DpopKey = Awaited<ReturnType<typeof newDpopKey>>;

const clientCredentials = { grant_type: 'client_credentials' };
const test = base
  .extend('key', { scope: 'file' }, () => newDpopKey())
  .extend('bound', { scope: 'file' }, ({ auth }) => registerClient(auth, { ...webClient, requireDpop: true }))
  .extend(
    'withProof',
    ({ auth, service }) =>
      async (proof: Promise<string> | string, instance = auth) =>
        post(instance, '/token', clientCredentials, { ...basic(service), dpop: await proof }),
  )
  .extend('exchange', ({ auth, bound, person }) => async (dpop?: string) => {
    const { code, verifier } = await obtainCode(auth, person, { client_id: bound.clientId });
    const form = { client_id: bound.clientId, code, code_verifier: verifier, redirect_uri: CALLBACK };
    return post(auth, '/token', form, dpop === undefined ? {} : { dpop });
  });
const nowS = () => Math.floor(Date.now() / 1_000);

test('a token is bound to the key of the proof', async ({ key, withProof }) => {
  const { status, body, headers } = await withProof(key.proof());
  expect([status, body.token_type]).toEqual([200, 'DPoP']);
  expect(decodeJwt(String(body.access_token)).cnf).toEqual({ jkt: key.jkt });
  expect(headers.get('dpop-nonce')).toMatch(/^[\w-]{43}$/);
});

describe('a proof is refused (RFC 9449, 4.3)', () => {
  test.for<[string, (key: DpopKey) => Promise<string>]>([
    ['for another method', (key) => key.proof({ htm: 'GET' })],
    ['for another URL', (key) => key.proof({ htu: `${ISSUER}/par` })],
    ['for another server', (key) => key.proof({ htu: 'https://elsewhere.test/token' })],
    ['without a URL', (key) => key.proof({ htu: undefined })],
    ['without a method', (key) => key.proof({ htm: undefined })],
    ['without jti', (key) => key.proof({ jti: undefined })],
    ['without time', (key) => key.proof({ iat: undefined })],
    ['of another type', (key) => key.proof({}, { typ: 'jwt' })],
    ['without a key', (key) => key.proof({}, { jwk: undefined })],
    [
      'with the key of another',
      (key) => key.proof({}, { jwk: { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' } }),
    ],
    ['with a symmetric key', symmetricProof],
    ['that is no JWT', async () => 'proof'],
  ])('%s', async ([, make], { key, withProof }) => {
    const { status, body } = await withProof(make(key));
    expect([status, body.error]).toEqual([400, 'invalid_dpop_proof']);
  });

  test.for<[string, number]>([
    ['from long ago', -330],
    ['from the future', 330],
  ])('%s, and the client gets a nonce for a new proof', async ([, offsetS], { key, withProof }) => {
    const { status, body, headers } = await withProof(key.proof({ iat: nowS() + offsetS }));
    expect([status, body.error]).toEqual([400, 'use_dpop_nonce']);
    const nonce = headers.get('dpop-nonce');
    expect((await withProof(key.proof({ iat: nowS() + offsetS, nonce }))).status).toBe(200);
  });

  test('when it is used twice', async ({ key, withProof }) => {
    const proof = await key.proof();
    expect((await withProof(proof)).status).toBe(200);
    expect((await withProof(proof)).body.error).toBe('invalid_dpop_proof');
  });

  test('with a foreign nonce', async ({ key, withProof }) => {
    expect((await withProof(key.proof({ nonce: 'made-up' }))).body.error).toBe('use_dpop_nonce');
  });
});

async function symmetricProof(): Promise<string> {
  const secret = await generateSecret('HS256', { extractable: true });
  const jwk = { kty: 'oct', k: 'AAAA' } as object;
  const claims = { jti: 'one', htm: 'POST', htu: `${ISSUER}/token`, iat: nowS() };
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk }).sign(secret);
}

test('if nonces are required, a proof without one is refused with a nonce, which every process accepts', async ({
  key,
  withProof,
  database,
}) => {
  await using first = await database.open({ settings: { DPOP_NONCE: 'required' } });
  await using second = await database.open({ settings: { DPOP_NONCE: 'required' } });
  const { status, body, headers } = await withProof(key.proof(), first);
  expect([status, body.error]).toEqual([400, 'use_dpop_nonce']);
  expect((await withProof(key.proof({ nonce: headers.get('dpop-nonce') }), second)).status).toBe(200);
});

describe('a client that must use DPoP', () => {
  test('gets nothing without it', async ({ exchange }) => {
    const { status, body } = await exchange();
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
  });

  test('has refresh tokens that work only with its key', async ({ auth, bound, exchange, key }) => {
    const { body } = await exchange(await key.proof());
    const form = { client_id: bound.clientId, refresh_token: String(body.refresh_token) };
    const stranger = await newDpopKey();
    expect((await post(auth, '/token', form, { dpop: await stranger.proof() })).body.error).toBe(
      'invalid_grant',
    );
    expect((await post(auth, '/token', form)).body.error).toBe('invalid_grant');
    expect((await post(auth, '/token', form, { dpop: await key.proof() })).body.token_type).toBe('DPoP');
  });

  test('can bind the code beforehand (RFC 9449, 10)', async ({ auth, bound, key, person }) => {
    const { code, verifier } = await obtainCode(auth, person, {
      client_id: bound.clientId,
      dpop_jkt: key.jkt,
    });
    const form = { client_id: bound.clientId, code, code_verifier: verifier };
    const stranger = await newDpopKey();
    expect((await post(auth, '/token', form, { dpop: await stranger.proof() })).body.error).toBe(
      'invalid_grant',
    );
    expect((await post(auth, '/token', form)).body.error).toBe('invalid_grant');
    // Another key does not spend the code.
    expect(await post(auth, '/token', form, { dpop: await key.proof() })).toMatchObject({
      status: 200,
      body: { token_type: 'DPoP' },
    });
  });
});

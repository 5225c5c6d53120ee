import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { createProver, newKeyPair, provingFetch } from './dpop.ts';

const url = 'https://annals.example/articles?tag=a';
const proverOf = async () => {
  const keyPair = await newKeyPair();
  return createProver(async () => keyPair);
};

test('a proof is bound to its key, request and token, and uses the server’s clock', async () => {
  const prover = await proverOf();
  const proof = await prover.prove({ method: 'GET', url, token: 'a token', aheadMs: 3_600_000 });
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt' });
  expect(protectedHeader).toMatchObject({ alg: 'ES256', jwk: { kty: 'EC', crv: 'P-256' } });
  expect(payload).toEqual({
    jti: expect.stringMatching(/^[\w-]{22}$/),
    htm: 'GET',
    htu: 'https://annals.example/articles',
    ath: createHash('sha256').update('a token').digest('base64url'),
    iat: expect.closeTo(Date.now() / 1_000 + 3_600, -2),
  });
  const { jwk = {} } = decodeProtectedHeader(proof);
  expect(['d' in jwk, await prover.thumbprint()]).toEqual([false, await calculateJwkThumbprint(jwk)]);
});

test('no two proofs are the same', async () => {
  const { prove } = await proverOf();
  expect(await prove({ method: 'GET', url })).not.toBe(await prove({ method: 'GET', url }));
});

test('the private key cannot be read', async () => {
  const { privateKey } = await newKeyPair();
  await expect(crypto.subtle.exportKey('jwk', privateKey)).rejects.toThrow();
});

test('a nonce that the server asks for is in the second attempt, and in later proofs for this server only', async () => {
  const prover = await proverOf();
  const nonces: unknown[] = [];
  const fetch = provingFetch(async (_, init) => {
    const proof = new Headers(init.headers as Record<string, string>).get('DPoP') ?? '';
    const { payload } = await jwtVerify(proof, EmbeddedJWK);
    nonces.push(payload.nonce);
    if (payload.nonce === 'one') return new Response('{}', { headers: { 'DPoP-Nonce': 'two' } });
    return new Response('{"error":"use_dpop_nonce"}', { status: 400, headers: { 'DPoP-Nonce': 'one' } });
  }, prover);
  expect((await fetch('https://annals.example/token', { method: 'POST' })).status).toBe(200);
  const { payload } = await jwtVerify(await prover.prove({ method: 'GET', url }), EmbeddedJWK);
  const elsewhere = await jwtVerify(
    await prover.prove({ method: 'GET', url: 'https://elsewhere.example/' }),
    EmbeddedJWK,
  );
  expect([nonces, payload.nonce, elsewhere.payload.nonce]).toEqual([[undefined, 'one'], 'two', undefined]);
});

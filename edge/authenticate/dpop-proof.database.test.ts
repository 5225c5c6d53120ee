import { exportJWK } from 'jose';
import { describe, expect } from 'vitest';
import { test as base, openResourceProcess } from '../../test/engines/resource-api.ts';
import { AUDIENCE, createProofMint, nowS, type ProofMint } from '../../test/token-mint.ts';

const test = base.extend(
  'bound',
  { scope: 'file' },
  ({ holder, mint }) =>
    () =>
      mint.token({ cnf: { jkt: holder.jkt } }),
);
describe('DPoP', () => {
  const dpop = (token: string, proof: string) => ({ Authorization: `DPoP ${token}`, DPoP: proof });

  test('a bound token with its proof is valid, and the same proof a second time is not', async ({
    bound,
    get,
    holder,
  }) => {
    const token = await bound();
    const proof = await holder.proof({ token });
    expect(await get(dpop(token, proof))).toMatchObject({ status: 200, body: { userId: 7001 } });
    expect(await get(dpop(token, proof))).toMatchObject({
      status: 401,
      body: { code: 'invalid_dpop_proof' },
    });
    expect(await get(dpop(token, await holder.proof({ token })))).toMatchObject({ status: 200 });
  });

  test('an Ed25519 proof is valid as well', async ({ get, mint }) => {
    const edwards = await createProofMint('Ed25519');
    const token = await mint.token({ cnf: { jkt: edwards.jkt } });
    expect(await get(dpop(token, await edwards.proof({ token })))).toMatchObject({ status: 200 });
  });

  test('the query and the spelling of a URL do not count', async ({ bound, get, holder }) => {
    const token = await bound();
    expect(
      await get(
        dpop(token, await holder.proof({ token, url: 'HTTPS://API.example:443/me?b=2#c' })),
        '/me?a=1',
      ),
    ).toMatchObject({
      status: 200,
    });
  });

  type Make = (token: string, holder: ProofMint, bound: () => Promise<string>) => Promise<string>;
  const stranger = () => createProofMint();
  const cases: readonly (readonly [string, Make])[] = [
    ['for another method', (token, holder) => holder.proof({ token, method: 'POST' })],
    ['for another method in another case', (token, holder) => holder.proof({ token, method: 'get' })],
    ['for another path', (token, holder) => holder.proof({ token, url: `${AUDIENCE}/me/` })],
    ['for another host', (token, holder) => holder.proof({ token, url: 'https://evil.example/me' })],
    [
      'for another scheme',
      (token, holder) => holder.proof({ token, url: AUDIENCE.replace('https', 'http').concat('/me') }),
    ],
    ['for no URL', (token, holder) => holder.proof({ token }, { htu: undefined })],
    ['for another token', async (_, holder, bound) => holder.proof({ token: await bound() })],
    ['for no token', (token, holder) => holder.proof({ token }, { ath: undefined })],
    ['that is too old', (token, holder) => holder.proof({ token }, { iat: nowS() - 65 })],
    ['from the future', (token, holder) => holder.proof({ token }, { iat: nowS() + 30 })],
    ['without a time', (token, holder) => holder.proof({ token }, { iat: undefined })],
    ['without an id', (token, holder) => holder.proof({ token }, { jti: undefined })],
    ['of another type', (token, holder) => holder.proof({ token }, {}, { typ: 'JWT' })],
    ['of another key', async (token) => (await stranger()).proof({ token })],
    ['without a key', (token, holder) => holder.proof({ token }, {}, { jwk: undefined })],
    [
      'signed by another key than it shows',
      async (token, holder) => (await stranger()).proof({ token }, {}, { jwk: holder.publicJwk }),
    ],
    [
      'with its private key',
      async (token, holder) => holder.proof({ token }, {}, { jwk: await exportJWK(holder.privateKey) }),
    ],
    ['by a shared secret', async () => `${btoa('{"alg":"HS256","typ":"dpop+jwt"}')}.${btoa('{}')}.x`],
    ['that is no JWT', async () => 'x'],
    ['that is endless', async (token, holder) => holder.proof({ token }, { more: 'x'.repeat(4_000) })],
  ];
  test.for(cases)('a proof %s is refused', async ([, make], { bound, get, holder }) => {
    const token = await bound();
    const { status, body, challenge } = await get(dpop(token, await make(token, holder, bound)));
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'invalid_dpop_proof' });
    expect(challenge).toMatch(
      /^DPoP error="invalid_dpop_proof", error_description="[^"]+", algs="[^"]+", resource_metadata="[^"]+", Bearer resource_metadata=/,
    );
  });

  test('a bound token without a proof is refused, and so are two proofs', async ({ bound, get, holder }) => {
    const token = await bound();
    expect(await get({ Authorization: `DPoP ${token}` })).toMatchObject({
      status: 401,
      body: { code: 'invalid_dpop_proof' },
    });
    const two = `${await holder.proof({ token })}, ${await holder.proof({ token })}`;
    expect(await get(dpop(token, two))).toMatchObject({ status: 401, body: { code: 'invalid_dpop_proof' } });
  });

  test('a token that is not bound is refused under DPoP', async ({ get, holder, mint }) => {
    const token = await mint.token();
    expect(await get(dpop(token, await holder.proof({ token })))).toMatchObject({
      status: 401,
      body: { code: 'invalid_token' },
    });
  });

  test('a token that is both bound to a key and to a certificate needs both', async ({
    get,
    holder,
    mint,
  }) => {
    const token = await mint.token({ cnf: { jkt: holder.jkt, 'x5t#S256': 'A'.repeat(43) } });
    expect(await get(dpop(token, await holder.proof({ token })))).toMatchObject({
      status: 401,
      body: { code: 'invalid_token' },
    });
  });

  test('many requests with one proof to several processes: exactly one succeeds', async ({
    api,
    bound,
    get,
    holder,
    mint,
  }) => {
    await using other = await openResourceProcess(api.databaseUrl, async () => mint.jwks);
    for (let round = 0; round < 10; round += 1) {
      const token = await bound();
      const proof = await holder.proof({ token });
      const send = (base: string) => get(dpop(token, proof), '/me', base);
      const answers = await Promise.all(
        [api.url, other.url, api.url, other.url, api.url, other.url].map(send),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    }
  });
});

// Over 200 lines, because it is one table: each kind of token, and each way to send it, with the answer.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect } from 'vitest';
import { bearer, test } from '../../test/engines/resource-api.ts';
import {
  AUDIENCE,
  createTokenMint,
  ISSUER,
  nowS,
  type ProofMint,
  type TokenMint,
} from '../../test/token-mint.ts';
import { until } from '../../testing/until.ts';

const METADATA = `resource_metadata="${AUDIENCE}/.well-known/oauth-protected-resource"`;
const ALGS = 'algs="ES256 Ed25519 EdDSA"';

describe('a request', () => {
  test('without a token is anonymous', async ({ get }) => {
    expect(await get({})).toEqual({ status: 200, body: { kind: 'anonymous' }, challenge: null });
  });

  test('with a token has its user, client, role and scopes', async ({ get, mint }) => {
    const token = await mint.token({ scope: 'read:articles write:articles' });
    const expected = {
      kind: 'user',
      userId: 7001,
      role: 'author',
      scopes: ['read:articles', 'write:articles'],
      client: 'web',
    };
    expect(await get(bearer(token))).toMatchObject({ status: 200, body: expected });
    expect(await get({ Authorization: `bEARER  ${token}` })).toMatchObject({ status: 200, body: expected });
  });

  test('with credentials of another scheme is anonymous', async ({ get }) => {
    expect(await get({ Authorization: 'Basic YTpi' })).toMatchObject({
      status: 200,
      body: { kind: 'anonymous' },
    });
  });

  test('that lacks a token learns where to get one', async ({ get }) => {
    expect(await get({}, '/signed-in')).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated' },
      challenge: `Bearer ${METADATA}, DPoP ${ALGS}, ${METADATA}`,
    });
  });

  test('that lacks a scope learns which', async ({ get, mint }) => {
    const { status, challenge } = await get(bearer(await mint.token()), '/scoped');
    expect(status).toBe(403);
    expect(challenge).toMatch(
      /^Bearer error="insufficient_scope", error_description="[^"]+", scope="write:articles", resource_metadata=/,
    );
  });
});

describe('a token', () => {
  type Make = (mint: TokenMint, holder: ProofMint) => Promise<string>;
  const HOUR_S = 3_600;
  const cases: readonly (readonly [string, Make])[] = [
    ['of another issuer', (mint) => mint.token({ iss: 'https://evil.example' })],
    ['for another audience', (mint) => mint.token({ aud: 'https://other.example' })],
    ['for an audience that only begins like ours', (mint) => mint.token({ aud: `${AUDIENCE}.evil.example` })],
    ['without an audience', (mint) => mint.token({ aud: undefined })],
    ['that has expired', (mint) => mint.token({ iat: nowS() - HOUR_S, exp: nowS() - 6 })],
    ['without an expiry', (mint) => mint.token({ exp: undefined })],
    ['that is not valid yet', (mint) => mint.token({ nbf: nowS() + 60 })],
    ['issued in the future', (mint) => mint.token({ iat: nowS() + 60 })],
    ['that is an ID token', (mint) => mint.token({}, { typ: 'JWT' })],
    ['without a type', (mint) => mint.token({}, { typ: undefined })],
    ['without a role', (mint) => mint.token({ role: undefined })],
    ['of a role that there is not', (mint) => mint.token({ role: 'root' })],
    ['of nobody', (mint) => mint.token({ sub: undefined })],
    ['of a subject that is no user', (mint) => mint.token({ sub: 'ada' })],
    ['of no client', (mint) => mint.token({ client_id: undefined })],
    ['without an id', (mint) => mint.token({ jti: undefined })],
    ['bound in a way that we do not know', (mint) => mint.token({ cnf: { kid: 'x' } })],
    ['with a critical extension', (mint) => mint.token({}, { crit: ['x-unknown'], 'x-unknown': 1 })],
    ['signed by a key that is not ours', async () => (await createTokenMint()).token()],
    ['signed by another key under our key’s id', async (mint) => (await createTokenMint(mint.kid)).token()],
    [
      'that is unsigned',
      async () =>
        new UnsecuredJWT({}).setIssuer(ISSUER).setAudience(AUDIENCE).setExpirationTime('1h').encode(),
    ],
    [
      'signed with the public key as a shared secret',
      async (mint) =>
        new SignJWT({ role: 'admin', client_id: 'web', jti: 'x' })
          .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: mint.kid })
          .setIssuer(ISSUER)
          .setAudience(AUDIENCE)
          .setSubject('7001')
          .setIssuedAt()
          .setExpirationTime('1h')
          .sign(Buffer.from(JSON.stringify(mint.jwks.keys[0]))),
    ],
    ['whose payload was changed', async (mint) => withPayload(await mint.token(), { role: 'admin' })],
    ['whose signature is missing', async (mint) => (await mint.token()).replace(/[^.]+$/, '')],
    ['that is no JWT', async () => 'abc'],
    ['that needs a certificate, without one', (mint) => mint.token({ cnf: { 'x5t#S256': 'A'.repeat(43) } })],
    ['that is bound to a key, as if it were not', (mint, holder) => mint.token({ cnf: { jkt: holder.jkt } })],
  ];
  test.for(cases)('%s is refused', async ([, make], { get, holder, mint }) => {
    const { status, body, challenge } = await get(bearer(await make(mint, holder)));
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'invalid_token' });
    expect(challenge).toMatch(
      /^Bearer error="invalid_token", error_description="[^"]+", resource_metadata="[^"]+", DPoP algs=/,
    );
  });

  test('that has just expired is valid within the tolerance for clocks', async ({ get, mint }) => {
    expect(await get(bearer(await mint.token({ exp: nowS() - 2 })))).toMatchObject({ status: 200 });
  });

  test('for several audiences, ours among them, is valid', async ({ get, mint }) => {
    expect(await get(bearer(await mint.token({ aud: ['https://other.example', AUDIENCE] })))).toMatchObject({
      status: 200,
    });
  });

  test('is refused once it expires', async ({ get, mint }) => {
    const token = await mint.token({ exp: nowS() - 4 });
    expect(await get(bearer(token))).toMatchObject({ status: 200 });
    await until(
      () => get(bearer(token)),
      ({ status }) => status === 401,
    );
  });

  test.for<[string, (url: string, token: string) => Promise<Response>]>([
    ['in the query', (url, token) => fetch(`${url}/me?access_token=${token}`)],
    [
      'in the query, beside a good one',
      (url, token) => fetch(`${url}/me?access_token=x`, { headers: bearer(token) }),
    ],
    [
      'with something after it',
      (url, token) => fetch(`${url}/me`, { headers: { Authorization: `Bearer ${token} x` } }),
    ],
    ['that is empty', (url) => fetch(`${url}/me`, { headers: { Authorization: 'Bearer' } })],
  ])('%s is a malformed request', async ([, send], { api, mint }) => {
    const response = await send(api.url, await mint.token());
    expect(response.status).toBe(400);
    expect(response.headers.get('www-authenticate')).toMatch(
      /^Bearer error="invalid_request", error_description="/,
    );
  });

  test('in a form counts as none', async ({ api, mint }) => {
    const response = await fetch(`${api.url}/me`, {
      method: 'POST',
      body: new URLSearchParams({ access_token: await mint.token() }),
    });
    expect(await response.json()).toEqual({ kind: 'anonymous' });
  });
});

describe('on one connection', () => {
  test('each request has its own token, and a token counts until it expires', async ({ api, mint }) => {
    using agent = new OneConnection();
    const ask = async (authorization?: string | string[]) => {
      const sent = request(`${api.url}/me`, {
        agent,
        headers: authorization === undefined ? {} : { Authorization: authorization },
      });
      const [response] = (await once(sent.end(), 'response')) as [IncomingMessage];
      const { kind, userId, code, detail } = (await json(response)) as Record<string, unknown>;
      return code === undefined ? { kind, userId } : { code, detail };
    };
    const user = (userId: number) => ({ kind: 'user', userId });
    const shortLived = await mint.token({ sub: '7003', exp: nowS() - 2 });
    expect(await ask(`Bearer ${shortLived}`)).toEqual(user(7003));
    const [one, other] = await Promise.all([mint.token({ sub: '7001' }), mint.token({ sub: '7002' })]);
    for (let round = 0; round < 2; round += 1) {
      expect(await ask(`Bearer ${one}`)).toEqual(user(7001));
      expect(await ask(`Bearer ${other}`)).toEqual(user(7002));
      expect(await ask()).toEqual({ kind: 'anonymous' });
      expect(await ask('Basic YTpi')).toEqual({ kind: 'anonymous' });
      expect(await ask([`Bearer ${other}`, `Bearer ${one}`])).toMatchObject({
        detail: 'Send one Authorization header.',
      });
      expect(await ask('Bearer')).toMatchObject({ code: 'malformed_request' });
    }
    await until(
      () => ask(`Bearer ${shortLived}`),
      (answer) => answer.code === 'invalid_token',
    );
  });
});

class OneConnection extends Agent {
  constructor() {
    super({ keepAlive: true, maxSockets: 1 });
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}

const withPayload = (token: string, claims: Record<string, unknown>): string => {
  const [header, payload = '', signature] = token.split('.');
  const changed = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), ...claims };
  return [header, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.');
};

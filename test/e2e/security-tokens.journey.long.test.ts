// Over 200 lines, because it is one table: each forged or misused token, sent to every role and interface.
import { createHmac, createPublicKey, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import { describe, expect } from 'vitest';
import { openPool } from '#shared/database/pool.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { readSigningKeys } from '../../auth/signing-keys/signing-keys.ts';
import type { Person } from '../../testing/http/people.ts';
import type { Ask, Reply } from '../../testing/http/rest-client.ts';
import type { Installation } from '../engines/installation.ts';
import { sharedTest } from '../engines/installation-fixture.ts';
import { sendRaw } from '../engines/raw-request.ts';

/** Every role refuses everything that is not an access token of ours, in any form and by any way. */

/** One path of each role and each kind of interface, with the answer to a valid token. */
const SURFACES: Readonly<Record<string, readonly [method: string, path: string, ask: Ask, good: number]>> = {
  'an item': ['GET', '/me', {}, 200],
  'a write': ['POST', '/articles', { body: { title: 'On engines', body: '', tags: [] } }, 201],
  GraphQL: ['POST', '/graphql', { body: { query: '{ me { id } }' } }, 200],
  'GraphQL by GET': ['GET', '/graphql?query=%7Bme%7Bid%7D%7D', {}, 200],
  'a stream of GraphQL': ['PUT', '/graphql', {}, 201],
  'the feed': ['GET', '/events?limit=1', {}, 200],
  deliveries: ['GET', '/webhooks/1/deliveries', {}, 404],
  'a replay': ['POST', '/webhooks/1/replay', { body: {} }, 404],
  clients: ['GET', '/clients', {}, 403],
};

const statuses = (replies: Readonly<Record<string, Reply>>) =>
  Object.fromEntries(Object.entries(replies).map(([name, { status }]) => [name, status]));
const everywhere = (status: number) =>
  Object.fromEntries(Object.keys(SURFACES).map((name) => [name, status]));

const nowS = () => Math.floor(Date.now() / 1_000);
type Change = Readonly<Record<string, unknown>>;

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Makes tokens for a user, each with a single fault. */
const openForgery = async ({ admin, url }: Installation, { refreshToken, userId }: Person, ours: JWK) => {
  const foreign = await generateKeyPair('ES256', { extractable: true });
  const claims = (change: Change) => ({
    ...{ iss: url, aud: url, sub: String(userId), client_id: 'journal-app', role: 'admin' },
    ...{
      scope: 'read:users write:articles read:events manage:webhooks manage:clients',
      jti: randomUUID(),
      iat: nowS(),
      exp: nowS() + 300,
    },
    ...change,
  });
  const headerOf = (change: Change) => ({ alg: 'ES256', typ: 'at+jwt', kid: ours.kid, ...change });
  const content = (alg: unknown) => `${part(headerOf({ alg }))}.${part(claims({}))}`;
  const publicJwk = JSON.stringify({ kty: ours.kty, crv: ours.crv, x: ours.x, y: ours.y });
  return {
    ...{ url, ours, publicJwk, refreshToken, clientSecret: admin.secret },
    foreignJwk: await exportJWK(foreign.publicKey),
    /** Signed like the authorization server. */
    signed: async (change: Change = {}, header: Change = {}): Promise<string> =>
      new SignJWT(JSON.parse(JSON.stringify(claims(change))))
        .setProtectedHeader(headerOf(header) as never)
        .sign(await importJWK(ours, 'ES256'), { crit: { 'x-more': false } }),
    forged: (header: Change = {}): Promise<string> =>
      new SignJWT(claims({})).setProtectedHeader(headerOf(header) as never).sign(foreign.privateKey),
    /** With a symmetric algorithm, keyed by forms of our public key that a confused verifier might use. */
    confused(alg: 'HS256' | 'HS384' | 'HS512', secret: string | Buffer): string {
      const signedPart = content(alg);
      const signature = createHmac(alg.replace('HS', 'sha'), secret).update(signedPart).digest('base64url');
      return `${signedPart}.${signature}`;
    },
    publicPem: (format: 'pem' | 'der') =>
      createPublicKey({ key: JSON.parse(publicJwk), format: 'jwk' }).export({
        type: 'spki',
        format,
      } as never) as string | Buffer,
    unsigned: (alg: unknown) => `${content(alg)}.`,
  };
};
type Forgery = Awaited<ReturnType<typeof openForgery>>;

const test = sharedTest
  .extend(
    'askAll',
    { scope: 'file' },
    ({ ask }) =>
      async (
        more: (path: string) => { readonly path?: string } & Ask,
      ): Promise<Readonly<Record<string, Reply>>> => {
        const answers = Object.entries(SURFACES).map(async ([name, [method, itsPath, its]]) => {
          const { path = itsPath, ...given } = more(itsPath);
          return [name, await ask(method, path, { ...its, ...given })] as const;
        });
        return Object.fromEntries(await Promise.all(answers));
      },
  )
  /** With the signing key of the authorization server. */
  .extend('forgery', { scope: 'file' }, async ({ ada, installation }) => {
    const { DATABASE_URL = '', MASTER_KEY = '' } = installation.settings;
    await using pool = openPool({ url: DATABASE_URL, applicationName: 'test', connectionsMax: 1 });
    const [ours = {}] = await readSigningKeys({ pool, masterKey: parseMasterKey(MASTER_KEY) });
    return openForgery(installation, ada, ours);
  });

test('a correctly signed token works at every role, so that each refusal below has one cause', async ({
  askAll,
  forgery,
}) => {
  const good = Object.fromEntries(Object.entries(SURFACES).map(([name, [, , , status]]) => [name, status]));
  const token = await forgery.signed({
    role: 'author',
    scope: 'read:users write:articles read:events manage:webhooks',
  });
  expect(statuses(await askAll(() => ({ token })))).toEqual(good);
});

describe('a token', () => {
  const elsewhere = 'https://evil.example/jwks';
  test.for<[string, (forgery: Forgery) => string | Promise<string>]>([
    ['without a signature: alg none', ({ unsigned }) => unsigned('none')],
    ['without a signature: alg None', ({ unsigned }) => unsigned('None')],
    ['without a signature: no alg', ({ unsigned }) => unsigned(undefined)],
    ['without a signature, under our alg', ({ unsigned }) => unsigned('ES256')],
    ['by HS256 with our public JWK as the secret', ({ confused, publicJwk }) => confused('HS256', publicJwk)],
    [
      'by HS256 with our public PEM as the secret',
      ({ confused, publicPem }) => confused('HS256', publicPem('pem')),
    ],
    [
      'by HS512 with our public DER as the secret',
      ({ confused, publicPem }) => confused('HS512', publicPem('der')),
    ],
    [
      'by HS384 with the id of our key as the secret',
      ({ confused, ours }) => confused('HS384', ours.kid ?? ''),
    ],
    ['with an empty secret', ({ confused }) => confused('HS256', '')],
    ['of another key, under the id of ours', ({ forged }) => forged()],
    ['of another key, under an id that there is not', ({ forged }) => forged({ kid: randomUUID() })],
    ['of another key, without an id', ({ forged }) => forged({ kid: undefined })],
    ['of another key, under an id like a path', ({ forged }) => forged({ kid: '../../../../dev/null' })],
    ['of another key, under an id like SQL', ({ forged }) => forged({ kid: "x' OR '1'='1" })],
    ['of another key, which it brings (jwk)', ({ foreignJwk, forged }) => forged({ jwk: foreignJwk })],
    [
      'of another key, which it brings under no id',
      ({ foreignJwk, forged }) => forged({ jwk: foreignJwk, kid: undefined }),
    ],
    ['of another key, which it says where to find (jku)', ({ forged }) => forged({ jku: elsewhere })],
    ['of another key, which it says where to find (x5u)', ({ forged }) => forged({ x5u: elsewhere })],
    ['of another key, which it has a certificate for (x5c)', ({ forged }) => forged({ x5c: ['MIIB'] })],
    ['of ours with a critical extension', ({ signed }) => signed({}, { crit: ['x-more'], 'x-more': 1 })],
    ['of ours by another issuer', ({ signed }) => signed({ iss: 'https://evil.example' })],
    [
      'of ours by an issuer that begins like ours',
      ({ signed, url }) => signed({ iss: `${url}.evil.example` }),
    ],
    ['of ours for another audience', ({ signed }) => signed({ aud: 'https://other.example' })],
    [
      'of ours for a client, as an ID token is',
      ({ signed }) => signed({ aud: 'journal-app', nonce: 'n' }, { typ: 'JWT' }),
    ],
    ['of ours that is an ID token for us', ({ signed }) => signed({}, { typ: 'JWT' })],
    ['of ours that is a token of logout', ({ signed }) => signed({}, { typ: 'logout+jwt' })],
    ['of ours that has expired', ({ signed }) => signed({ iat: nowS() - 600, exp: nowS() - 300 })],
    ['of ours that never expires', ({ signed }) => signed({ exp: undefined })],
    ['of ours that is not valid yet', ({ signed }) => signed({ nbf: nowS() + 60 })],
    ['of ours that is from the future', ({ signed }) => signed({ iat: nowS() + 60 })],
    ['of ours in a role that there is not', ({ signed }) => signed({ role: 'root' })],
    ['of ours bound to a key that is not shown', ({ signed }) => signed({ cnf: { jkt: 'A'.repeat(43) } })],
    ['that refreshes', ({ refreshToken }) => refreshToken],
    [
      'that is an assertion between our roles',
      ({ signed }) => signed({ aud: 'annals:command' }, { typ: 'annals-caller+jwt' }),
    ],
    ['that is a client’s secret', ({ clientSecret }) => clientSecret],
  ])('%s is refused at every role', async ([_, make], { askAll, forgery }) => {
    const token = await make(forgery);
    const replies = await askAll(() => ({ token }));
    expect(statuses(replies)).toEqual(everywhere(401));
    for (const { headers, body } of Object.values(replies)) {
      expect(JSON.stringify(body)).toMatch(/"code":"invalid_token"/);
      expect(headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });
});

/** Without a token: public interfaces answer as for anonymous callers. */
const NOBODY = { ...everywhere(401), GraphQL: 200, 'GraphQL by GET': 200, 'a stream of GraphQL': 201 };

describe('a valid token', () => {
  const withQuery = (path: string, more: string) => `${path}${path.includes('?') ? '&' : '?'}${more}`;

  test('in the query is refused, and not logged', async ({ ada, askAll, installation }) => {
    const replies = await askAll((path) => ({ path: withQuery(path, `access_token=${ada.token}`) }));
    expect(statuses(replies)).toEqual(everywhere(400));
    expect(installation.printed()).not.toContain(ada.token);
  });

  test.for<[string, (of: Person) => Record<string, string>]>([
    [
      'in a cookie',
      ({ token }) => ({
        cookie: `access_token=${token}; Authorization=Bearer%20${token}; token=${token}`,
      }),
    ],
    ['as another scheme', ({ token }) => ({ authorization: `Token ${token}` })],
    ['as a password', ({ token }) => ({ authorization: `Basic ${btoa(`bearer:${token}`)}` })],
    [
      'in headers that some proxies write',
      ({ token }) => ({ 'x-access-token': token, 'x-forwarded-access-token': token }),
    ],
    ['for the proxy', ({ token }) => ({ 'proxy-authorization': `Bearer ${token}` })],
    [
      'of nobody, but with the names of somebody',
      ({ userId }) => ({ 'x-user-id': String(userId), 'x-forwarded-user': 'admin', 'x-role': 'admin' }),
    ],
  ])('%s counts as no token', async ([_, headersOf], { ada, askAll }) => {
    const replies = await askAll(() => ({ headers: headersOf(ada) }));
    expect(statuses(replies)).toEqual(NOBODY);
    expect(replies.GraphQL?.body).toMatchObject({ data: { me: null } });
  });

  test.for<[string, (token: string) => readonly string[]]>([
    ['twice', (token) => [`Bearer ${token}`, `Bearer ${token}`]],
    ['beside another', (token) => [`Bearer ${token}`, 'Bearer x']],
    ['after a Basic one', (token) => ['Basic YTpi', `Bearer ${token}`]],
    ['in one header with another', (token) => [`Bearer ${token}, Bearer ${token}`]],
    ['with a line folded', (token) => [`Bearer\r\n ${token}`]],
  ])('%s is refused', async ([_, values], { ada, installation }) => {
    for (const path of ['/me', '/clients', '/webhooks/1/deliveries', '/graphql?query=%7Bme%7Bid%7D%7D']) {
      const authorizations = values(ada.token).map((value) => `Authorization: ${value}`);
      const answer = await sendRaw(installation.origin, [
        `GET ${path} HTTP/1.1`,
        'Host: x',
        ...authorizations,
        'Connection: close',
      ]);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    }
  });
});

import { createHmac, createPublicKey, randomUUID } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '#shared/database/pool.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { readSigningKeys } from '../../auth/signing-keys/signing-keys.ts';
import { type Ask, type Reply, restClientOf } from '../../testing/http/rest-client.ts';
import { openPeople, type Person } from '../../testing/people.ts';
import { type Installation, shareInstallation } from '../engines/installation.ts';
import { sendRaw } from '../engines/raw-request.ts';

/** Every role refuses everything that is not an access token of ours, in any form and by any way. */
const resources = new AsyncDisposableStack();
let installation: Installation;
let ada: Person;
/** The signing key of the authorization server, so that each forged token has a single fault. */
let ours: JWK;
let foreign: CryptoKey;
let foreignJwk: JWK;
beforeAll(async () => {
  installation = resources.use(await shareInstallation());
  const people = await openPeople(installation);
  ada = await people.signUp('Ada');
  const { DATABASE_URL = '', MASTER_KEY = '' } = installation.settings;
  await using pool = openPool({ url: DATABASE_URL, applicationName: 'test', connectionsMax: 1 });
  [ours = {}] = await readSigningKeys({ pool, masterKey: parseMasterKey(MASTER_KEY) });
  const pair = await generateKeyPair('ES256', { extractable: true });
  foreign = pair.privateKey;
  foreignJwk = await exportJWK(pair.publicKey);
});
afterAll(() => resources.disposeAsync());

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

const askAll = async (
  more: (path: string) => { readonly path?: string } & Ask,
): Promise<Readonly<Record<string, Reply>>> => {
  const ask = restClientOf(installation);
  const answers = Object.entries(SURFACES).map(async ([name, [method, itsPath, its]]) => {
    const { path = itsPath, ...given } = more(itsPath);
    return [name, await ask(method, path, { ...its, ...given })] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
};

const statuses = (replies: Readonly<Record<string, Reply>>) =>
  Object.fromEntries(Object.entries(replies).map(([name, { status }]) => [name, status]));
const everywhere = (status: number) =>
  Object.fromEntries(Object.keys(SURFACES).map((name) => [name, status]));

const nowS = () => Math.floor(Date.now() / 1_000);
type Change = Readonly<Record<string, unknown>>;

const claims = (change: Change) => ({
  ...{
    iss: installation.url,
    aud: installation.url,
    sub: String(ada.userId),
    client_id: 'journal-app',
    role: 'admin',
  },
  ...{
    scope: 'read:users write:articles read:events manage:webhooks manage:clients',
    jti: randomUUID(),
    iat: nowS(),
    exp: nowS() + 300,
  },
  ...change,
});
const headerOf = (change: Change) => ({ alg: 'ES256', typ: 'at+jwt', kid: ours.kid, ...change });

/** Signed like the authorization server. */
const signed = async (change: Change = {}, header: Change = {}): Promise<string> =>
  new SignJWT(JSON.parse(JSON.stringify(claims(change))))
    .setProtectedHeader(headerOf(header) as never)
    .sign(await importJWK(ours, 'ES256'), { crit: { 'x-more': false } });

const forged = (header: Change = {}): Promise<string> =>
  new SignJWT(claims({})).setProtectedHeader(headerOf(header) as never).sign(foreign);

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** With a symmetric algorithm, keyed by forms of our public key that a confused verifier might use. */
const confused = (alg: 'HS256' | 'HS384' | 'HS512', secret: () => string | Buffer) => {
  const content = `${part(headerOf({ alg }))}.${part(claims({}))}`;
  return `${content}.${createHmac(alg.replace('HS', 'sha'), secret()).update(content).digest('base64url')}`;
};
const publicJwk = () => JSON.stringify({ kty: ours.kty, crv: ours.crv, x: ours.x, y: ours.y });
const publicPem = (format: 'pem' | 'der') =>
  createPublicKey({ key: JSON.parse(publicJwk()), format: 'jwk' }).export({
    type: 'spki',
    format,
  } as never) as string | Buffer;
const unsigned = (alg: unknown) => `${part(headerOf({ alg }))}.${part(claims({}))}.`;

test('a correctly signed token works at every role, so that each refusal below has one cause', async () => {
  const good = Object.fromEntries(Object.entries(SURFACES).map(([name, [, , , status]]) => [name, status]));
  const token = await signed({
    role: 'author',
    scope: 'read:users write:articles read:events manage:webhooks',
  });
  expect(statuses(await askAll(() => ({ token })))).toEqual(good);
});

describe('a token', () => {
  const elsewhere = 'https://evil.example/jwks';
  test.each<[string, () => string | Promise<string>]>([
    ['without a signature: alg none', () => unsigned('none')],
    ['without a signature: alg None', () => unsigned('None')],
    ['without a signature: no alg', () => unsigned(undefined)],
    ['without a signature, under our alg', () => unsigned('ES256')],
    ['by HS256 with our public JWK as the secret', () => confused('HS256', publicJwk)],
    ['by HS256 with our public PEM as the secret', () => confused('HS256', () => publicPem('pem'))],
    ['by HS512 with our public DER as the secret', () => confused('HS512', () => publicPem('der'))],
    ['by HS384 with the id of our key as the secret', () => confused('HS384', () => ours.kid ?? '')],
    ['with an empty secret', () => confused('HS256', () => '')],
    ['of another key, under the id of ours', () => forged()],
    ['of another key, under an id that there is not', () => forged({ kid: randomUUID() })],
    ['of another key, without an id', () => forged({ kid: undefined })],
    ['of another key, under an id like a path', () => forged({ kid: '../../../../dev/null' })],
    ['of another key, under an id like SQL', () => forged({ kid: "x' OR '1'='1" })],
    ['of another key, which it brings (jwk)', () => forged({ jwk: foreignJwk })],
    ['of another key, which it brings under no id', () => forged({ jwk: foreignJwk, kid: undefined })],
    ['of another key, which it says where to find (jku)', () => forged({ jku: elsewhere })],
    ['of another key, which it says where to find (x5u)', () => forged({ x5u: elsewhere })],
    ['of another key, which it has a certificate for (x5c)', () => forged({ x5c: ['MIIB'] })],
    ['of ours with a critical extension', () => signed({}, { crit: ['x-more'], 'x-more': 1 })],
    ['of ours by another issuer', () => signed({ iss: 'https://evil.example' })],
    ['of ours by an issuer that begins like ours', () => signed({ iss: `${installation.url}.evil.example` })],
    ['of ours for another audience', () => signed({ aud: 'https://other.example' })],
    [
      'of ours for a client, as an ID token is',
      () => signed({ aud: 'journal-app', nonce: 'n' }, { typ: 'JWT' }),
    ],
    ['of ours that is an ID token for us', () => signed({}, { typ: 'JWT' })],
    ['of ours that is a token of logout', () => signed({}, { typ: 'logout+jwt' })],
    ['of ours that has expired', () => signed({ iat: nowS() - 600, exp: nowS() - 300 })],
    ['of ours that never expires', () => signed({ exp: undefined })],
    ['of ours that is not valid yet', () => signed({ nbf: nowS() + 60 })],
    ['of ours that is from the future', () => signed({ iat: nowS() + 60 })],
    ['of ours in a role that there is not', () => signed({ role: 'root' })],
    ['of ours bound to a key that is not shown', () => signed({ cnf: { jkt: 'A'.repeat(43) } })],
    ['that refreshes', () => ada.refreshToken],
    [
      'that is an assertion between our roles',
      () => signed({ aud: 'annals:command' }, { typ: 'annals-caller+jwt' }),
    ],
    ['that is a client’s secret', () => installation.admin.secret],
  ])('%s is refused at every role', async (_, make) => {
    const token = await make();
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

  test('in the query is refused, and not logged', async () => {
    const replies = await askAll((path) => ({ path: withQuery(path, `access_token=${ada.token}`) }));
    expect(statuses(replies)).toEqual(everywhere(400));
    expect(installation.printed()).not.toContain(ada.token);
  });

  test.each<[string, () => Record<string, string>]>([
    [
      'in a cookie',
      () => ({
        cookie: `access_token=${ada.token}; Authorization=Bearer%20${ada.token}; token=${ada.token}`,
      }),
    ],
    ['as another scheme', () => ({ authorization: `Token ${ada.token}` })],
    ['as a password', () => ({ authorization: `Basic ${btoa(`bearer:${ada.token}`)}` })],
    [
      'in headers that some proxies write',
      () => ({ 'x-access-token': ada.token, 'x-forwarded-access-token': ada.token }),
    ],
    ['for the proxy', () => ({ 'proxy-authorization': `Bearer ${ada.token}` })],
    [
      'of nobody, but with the names of somebody',
      () => ({ 'x-user-id': String(ada.userId), 'x-forwarded-user': 'admin', 'x-role': 'admin' }),
    ],
  ])('%s counts as no token', async (_, headers) => {
    const replies = await askAll(() => ({ headers: headers() }));
    expect(statuses(replies)).toEqual(NOBODY);
    expect(replies.GraphQL?.body).toMatchObject({ data: { me: null } });
  });

  test.each([
    ['twice', () => [`Bearer ${ada.token}`, `Bearer ${ada.token}`]],
    ['beside another', () => [`Bearer ${ada.token}`, 'Bearer x']],
    ['after a Basic one', () => ['Basic YTpi', `Bearer ${ada.token}`]],
    ['in one header with another', () => [`Bearer ${ada.token}, Bearer ${ada.token}`]],
    ['with a line folded', () => [`Bearer\r\n ${ada.token}`]],
  ])('%s is refused', async (_, values) => {
    for (const path of ['/me', '/clients', '/webhooks/1/deliveries', '/graphql?query=%7Bme%7Bid%7D%7D']) {
      const authorizations = values().map((value) => `Authorization: ${value}`);
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

// Over 200 lines, because it is one table: the documents of clients, and the answer to each.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { decodeJwt } from 'jose';
import { expect } from 'vitest';
import { CALLBACK, ISSUER, PASSWORD } from '../engines/auth-database.ts';
import { test as base } from '../engines/auth-fixture.ts';
import { openBrowser, signInAndAllow } from '../engines/browser.ts';
import { AUTHORITY, SERVER } from '../engines/certificates.ts';
import { authorizeUrl, newVerifier, post, tokensByCode } from '../engines/oauth.ts';

// Own server: it reads documents from a server of the test.

type Written = {
  readonly status?: number;
  readonly headers?: object;
  readonly body: unknown;
  readonly isSlow?: boolean;
};

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('site', { scope: 'file' }, async ({}, { onCleanup }) => {
    const trusted = getCACertificates();
    setDefaultCACertificates([...trusted, AUTHORITY]);
    const pages = new Map<string, (id: string) => Written>();
    const asked: string[] = [];
    const server = createServer(SERVER, (request, response) => {
      const path = request.url ?? '';
      asked.push(path);
      const {
        status = 200,
        headers = {},
        body,
        isSlow = false,
      } = pages.get(path)?.(`${origin}${path}`) ?? { status: 404, body: '' };
      if (isSlow) return;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    onCleanup(() => {
      setDefaultCACertificates(trusted);
      server.closeAllConnections();
      server.close();
    });
    return { origin, pages, asked };
  })
  .extend('auth', { scope: 'file' }, async ({ database, site }, { onCleanup }) => {
    const auth = await database.open({ settings: { CLIENT_DOCUMENTS: site.origin, TRUST_PROXY: '1' } });
    onCleanup(() => auth[Symbol.asyncDispose]());
    return auth;
  })
  /** The answer of `/par` to a client, which is refused if it is unknown. */
  .extend('push', { scope: 'file' }, ({ auth }) => (clientId: string, address = newAddress()) => {
    const form = { client_id: clientId, redirect_uri: CALLBACK, code_challenge: newVerifier().challenge };
    return post(auth, '/par', form, { 'X-Forwarded-For': address });
  })
  .extend('isKnown', { scope: 'file' }, ({ push }) => async (clientId: string) => {
    const { status } = await push(clientId);
    expect([201, 401]).toContain(status);
    return status === 201;
  });

/** Another for each request, because each may cause few fetches. */
const newAddress = (): string => `192.0.2.${randomInt(256)}`;

const good = (id: string): Written => ({
  body: {
    client_id: id,
    client_name: 'Helper',
    redirect_uris: [CALLBACK],
    scope: 'openid read:articles',
    allowedScopes: ['manage:clients'],
    firstParty: true,
  },
});

test('a document is a client, whose users are asked, and which has its address in their tokens', async ({
  auth,
  person,
  site,
}) => {
  site.pages.set('/helper.json', good);
  const clientId = `${site.origin}/helper.json`;
  const browser = openBrowser(auth);
  const asked = { client_id: clientId, redirect_uri: CALLBACK, code_challenge: newVerifier().challenge };
  const { url } = await signInAndAllow(browser, authorizeUrl({ ...asked, scope: 'read:articles' }), person);
  expect(url.searchParams.get('iss')).toBe(ISSUER);
  const tokens = await tokensByCode(auth, person, { client_id: clientId, scope: 'read:articles' });
  expect(decodeJwt(String(tokens.access_token))).toMatchObject({
    client_id: clientId,
    scope: 'read:articles',
    agent: true,
  });
  expect(site.asked.filter((path) => path === '/helper.json')).toHaveLength(1);
  const refused = await auth.fetch(authorizeUrl({ ...asked, scope: 'manage:clients' }));
  expect(new URL(String(refused.headers.get('location'))).searchParams.get('error')).toBe('invalid_scope');
  const metadata = await (await auth.fetch(`${ISSUER}/.well-known/oauth-authorization-server`)).json();
  expect(metadata).toMatchObject({ client_id_metadata_document_supported: true });
});

test('the consent page shows the address apart from the name, and claims nothing of it', async ({
  auth,
  person,
  site,
}) => {
  const disguise = 'Annals (accounts.example)';
  site.pages.set('/disguised.json', (id) => ({
    body: { ...(good(id).body as object), client_name: disguise },
  }));
  const clientId = `${site.origin}/disguised.json`;
  const asked = { client_id: clientId, redirect_uri: CALLBACK, code_challenge: newVerifier().challenge };
  const browser = openBrowser(auth);
  const start = await browser.visit(authorizeUrl({ ...asked, scope: 'read:articles' }));
  const { body } = await browser.submit(start, { email: person.email, password: PASSWORD });
  expect(body).toContain(
    `<p>Its address: <strong><bdi>${clientId}</bdi></strong>. Nobody here has checked who is behind this address.</p>`,
  );
  expect(body).toContain(`Allow ${disguise} to use`);
  expect(body).not.toContain('registered itself');
});

test.for<readonly [string, (id: string) => Written]>([
  [
    'has a name that runs backwards',
    (id) => ({ body: { ...(good(id).body as object), client_name: 'Helper \u202e(moc.elpmaxe)' } }),
  ],
  [
    'has a name of two lines',
    (id) => ({ body: { ...(good(id).body as object), client_name: 'Helper\nof example.com' } }),
  ],
  ['names another client', () => good('https://app.example/client.json')],
  ['has a secret', (id) => ({ body: { ...(good(id).body as object), client_secret: 'x' } })],
  [
    'wants to authenticate',
    (id) => ({ body: { ...(good(id).body as object), token_endpoint_auth_method: 'client_secret_post' } }),
  ],
  ['has no redirect', (id) => ({ body: { client_id: id } })],
  [
    'has a redirect that is none',
    (id) => ({ body: { client_id: id, redirect_uris: ['javascript:alert(1)'] } }),
  ],
  [
    'acts for itself',
    (id) => ({ body: { ...(good(id).body as object), grant_types: ['client_credentials'] } }),
  ],
  ['is no JSON', () => ({ body: '{' })],
  ['is an array', () => ({ body: [] })],
  ['has another type', (id) => ({ ...good(id), headers: { 'content-type': 'text/html' } })],
  ['is not there', () => ({ status: 404, body: '' })],
  ['is too long', (id) => ({ body: { ...(good(id).body as object), more: 'x'.repeat(20_000) } })],
])('a document is no client if it %s', async ([name, page], { isKnown, site }) => {
  const path = `/${name.replaceAll(' ', '-')}.json`;
  site.pages.set(path, page);
  expect(await isKnown(`${site.origin}${path}`)).toBe(false);
  expect(site.asked).toContain(path);
});

test('a redirect is not followed, even to a document of the same client', async ({ isKnown, site }) => {
  const clientId = `${site.origin}/moved.json`;
  site.pages.set('/moved.json', () => ({ status: 302, headers: { location: '/target.json' }, body: '' }));
  site.pages.set('/target.json', () => good(clientId));
  expect(await isKnown(clientId)).toBe(false);
  expect(site.asked).toContain('/moved.json');
  expect(site.asked).not.toContain('/target.json');
});

test.for<readonly [string, (id: string) => Written]>([
  ['fails', () => ({ status: 503, body: '' })],
  ['does not answer in time', (id) => ({ ...good(id), isSlow: true })],
])('a client may retry if the host of its document %s', async ([name, page], { auth, push, site }) => {
  const path = `/${name.replaceAll(' ', '-')}.json`;
  site.pages.set(path, page);
  const clientId = `${site.origin}${path}`;
  const { status, headers, body } = await push(clientId);
  expect({ status, error: body.error }).toEqual({ status: 503, error: 'temporarily_unavailable' });
  expect(headers.get('retry-after')).toBe('10');
  const refresh = { grant_type: 'refresh_token', refresh_token: 'x', client_id: clientId };
  expect((await post(auth, '/token', refresh)).status).toBe(503);
  expect(site.asked.filter((each) => each === path)).toHaveLength(1);
});

test('an address may cause ten fetches at once, and others are not held up', async ({ push, site }) => {
  const paths = Array.from({ length: 11 }, (_, at) => `/many-${at}.json`);
  for (const path of paths) site.pages.set(path, good);
  const statuses = [];
  for (const path of paths) statuses.push((await push(`${site.origin}${path}`, '198.51.100.1')).status);
  expect(statuses).toEqual([...Array(10).fill(201), 503]);
  expect(site.asked).not.toContain('/many-10.json');
  expect((await push(`${site.origin}/many-10.json`)).status).toBe(201);
  expect((await push(`${site.origin}/many-0.json`, '198.51.100.1')).status).toBe(201);
});

test('an address is not asked if it is not the one spelling, or of another origin', async ({
  isKnown,
  site,
}) => {
  site.pages.set('/known.json', good);
  expect(await isKnown(`${site.origin}/known.json`)).toBe(true);
  const before = site.asked.length;
  for (const id of [
    `${site.origin}/a/../known.json`,
    `${site.origin}/known.json?x=1`,
    `${site.origin}/known.json#x`,
    `${site.origin}/`,
    `${site.origin}/${'x'.repeat(200)}`,
    site.origin.replace('https', 'http').concat('/known.json'),
    site.origin.replace('127.0.0.1', 'localhost').concat('/known.json'),
    site.origin.replace('127.0.0.1', 'a@127.0.0.1').concat('/known.json'),
    'https://169.254.169.254/latest',
  ])
    expect(await isKnown(id)).toBe(false);
  expect(site.asked.length).toBe(before);
});

test('a private range of webhooks is closed to addresses that strangers choose', async ({
  database,
  site,
}) => {
  site.pages.set('/open.json', good);
  const clientId = `${site.origin}/open.json`;
  const form = { client_id: clientId, redirect_uri: CALLBACK, code_challenge: newVerifier().challenge };
  const guard = { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', WEBHOOK_PORTS: 'any' };
  for (const [origins, status] of [
    ['any', 401],
    [site.origin, 201],
  ] as const) {
    await using auth = await database.open({ settings: { CLIENT_DOCUMENTS: origins, ...guard } });
    expect((await post(auth, '/par', form)).status).toBe(status);
    expect(site.asked.includes('/open.json')).toBe(status === 201);
  }
});

test('a name is not asked if it leads to a private address', async ({ database, site }) => {
  site.pages.set('/name.json', good);
  const clientId = `${site.origin.replace('127.0.0.1', 'localhost')}/name.json`;
  const form = { client_id: clientId, redirect_uri: CALLBACK, code_challenge: newVerifier().challenge };
  await using auth = await database.open({
    settings: { CLIENT_DOCUMENTS: new URL(clientId).origin, WEBHOOK_ALLOW_CIDRS: '10.1.2.3/32' },
  });
  expect((await post(auth, '/par', form)).status).toBe(401);
  expect(site.asked).not.toContain('/name.json');
});

test('a private address is not asked, whatever the origin, and nothing is if the setting is off', async ({
  database,
  site,
}) => {
  site.pages.set('/inside.json', good);
  const form = {
    client_id: `${site.origin}/inside.json`,
    redirect_uri: CALLBACK,
    code_challenge: newVerifier().challenge,
  };
  for (const settings of [{ CLIENT_DOCUMENTS: 'any', WEBHOOK_ALLOW_CIDRS: '10.1.2.3/32' }, {}] as const) {
    await using auth = await database.open({ settings });
    expect((await post(auth, '/par', form)).status).toBe(401);
  }
  expect(site.asked).not.toContain('/inside.json');
});

import { expect } from 'vitest';
import { sharedTest } from '../engines/installation-fixture.ts';

/** How clients in general and web pages of other origins reach the resources. */

const test = sharedTest
  .extend('articleId', { scope: 'file' }, async ({ ada, session }) => {
    const body = { title: 'On machines', body: '', publish: true };
    const { written } = await session.write('POST', '/articles', { token: ada.token, body });
    return written.id;
  })
  .extend('read', { scope: 'file' }, ({ session }) => session.read);

test('the same resources are under /api, with the same links', async ({ articleId, read }) => {
  const [plain, prefixed] = await Promise.all([
    read(`/articles/${articleId}`),
    read(`/api/articles/${articleId}`),
  ]);
  expect(prefixed).toMatchObject({ status: 200, body: plain.body as object });
});

test('a path reports its methods', async ({ ada, articleId, ask }) => {
  const options = await ask('OPTIONS', `/articles/${articleId}`);
  expect(options.status).toBe(204);
  expect(options.headers.get('allow')?.split(', ').toSorted()).toEqual([
    'DELETE',
    'GET',
    'HEAD',
    'OPTIONS',
    'PATCH',
    'PUT',
  ]);
  expect(options.headers.get('accept-patch')).toContain('application/merge-patch+json');
  for (const path of ['/', '/articles', '/openapi.json', '/docs', '/uploads/x.png', '/livez', '/graphql'])
    expect(await ask('OPTIONS', path)).toMatchObject({ status: 204 });
  expect((await ask('OPTIONS', '/graphql')).headers.get('allow')).toBe(
    'GET, HEAD, POST, PUT, DELETE, OPTIONS',
  );
  for (const [method, path] of [
    ['DELETE', '/articles'],
    ['POST', '/me'],
    ['PUT', `/articles/${articleId}/publish`],
  ] as const) {
    const refused = await ask(method, path, { token: ada.token });
    expect([method, path, refused.status]).toEqual([method, path, 405]);
    expect(refused.body).toMatchObject({ code: 'method_not_allowed' });
    expect(refused.headers.get('allow')).toBeTruthy();
  }
  for (const [method, path] of [
    ['GET', '/nowhere'],
    ['OPTIONS', '/operations/nowhere'],
    ['POST', '/operations/nowhere'],
  ] as const)
    expect(await ask(method, path)).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test('a web page of another origin may read, including the relevant headers', async ({
  articleId,
  ask,
  read,
}) => {
  const asked = {
    origin: 'https://app.example',
    'access-control-request-method': 'PATCH',
    'access-control-request-headers': 'authorization',
  };
  const preflight = await ask('OPTIONS', `/articles/${articleId}`, { headers: asked });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH');
  expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization');
  const { headers } = await read(`/articles/${articleId}`, { headers: { origin: 'https://app.example' } });
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('access-control-expose-headers')).toContain('ETag');
});

test.for([
  '/authorize',
  '/Authorize/',
  '/authorize/some-id',
  '/sign-in/some-id',
  '/sign-up',
  '/sign-out',
  '/consent/some-id',
  '/device',
  '/account',
  '/account/reset',
])(
  'no web page of another origin may read %s, where people sign in and decide (RFC 9700, 2.1)',
  async (path, { ask }) => {
    for (const method of ['GET', 'OPTIONS']) {
      const { headers } = await ask(method, path, {
        headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
      });
      expect([
        method,
        headers.get('access-control-allow-origin'),
        headers.get('access-control-allow-methods'),
      ]).toEqual([method, null, null]);
    }
  },
);

test.for(['/token', '/device_authorization', '/jwks', '/.well-known/openid-configuration'])(
  'it may use %s',
  async (path, { ask }) => {
    const { headers } = await ask('OPTIONS', path, {
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    });
    expect(headers.get('access-control-allow-origin')).toBe('*');
  },
);

test('a read with a failing If-Match is 412, and of the current version it is answered', async ({
  ada,
  articleId,
  ask,
}) => {
  const path = `/articles/${articleId}`;
  const { headers } = await ask('GET', path, { token: ada.token });
  const etag = headers.get('etag') ?? '';
  const version = /^"(\d+)-/.exec(etag)?.[1];
  for (const tag of [etag, `"${version}-"`, '*'])
    expect(await ask('GET', path, { token: ada.token, headers: { 'If-Match': tag } })).toMatchObject({
      status: 200,
    });
  for (const each of [path, '/articles', '/openapi.json', '/me'])
    expect([
      each,
      (await ask('GET', each, { token: ada.token, headers: { 'If-Match': '"9999-x"' } })).status,
    ]).toEqual([each, 412]);
});

test('the OpenAPI document is under /api as well', async ({ ask }) => {
  const [plain, prefixed] = [await ask('GET', '/openapi.json'), await ask('GET', '/api/openapi.json')];
  expect(prefixed.status).toBe(200);
  expect(prefixed.headers.get('etag')).toBe(plain.headers.get('etag'));
});

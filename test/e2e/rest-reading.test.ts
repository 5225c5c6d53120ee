import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { type RestSession, restSessionOver } from '../../testing/http/rest-session.ts';
import { openPeople, type Person } from '../../testing/people.ts';
import { type Installation, shareInstallation } from '../engines/installation.ts';

/** How clients in general and web pages of other origins reach the resources. */
let installation: Installation;
let ask: RestClient;
let read: RestSession['read'];
let ada: Person;
let articleId: number;

beforeAll(async () => {
  installation = await shareInstallation();
  const people = await openPeople(installation);
  ask = restClientOf(installation);
  const session = restSessionOver(ask);
  read = session.read;
  ada = await people.signUp('Ada');
  const body = { title: 'On machines', body: '', publish: true };
  const { written } = await session.write('POST', '/articles', { token: ada.token, body });
  articleId = written.id;
});
afterAll(() => installation?.[Symbol.asyncDispose]());

test('the same resources are under /api, with the same links', async () => {
  const [plain, prefixed] = await Promise.all([
    read(`/articles/${articleId}`),
    read(`/api/articles/${articleId}`),
  ]);
  expect(prefixed).toMatchObject({ status: 200, body: plain.body as object });
});

test('a path reports its methods', async () => {
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
  expect(await ask('GET', '/nowhere')).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test('a web page of another origin may read, including the relevant headers', async () => {
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

test.each([
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
  async (path) => {
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

test.each(['/token', '/device_authorization', '/jwks', '/.well-known/openid-configuration'])(
  'it may use %s',
  async (path) => {
    const { headers } = await ask('OPTIONS', path, {
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    });
    expect(headers.get('access-control-allow-origin')).toBe('*');
  },
);

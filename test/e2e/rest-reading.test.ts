import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Reply, type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { type RestSession, restSessionOver } from '../../testing/http/rest-session.ts';
import { openPeople, type Person } from '../../testing/people.ts';
import { type Installation, shareInstallation } from '../engines/installation.ts';
import type { Article } from '../engines/representations.ts';

/** The first reads of a newcomer, only by HTTP. */
let installation: Installation;
let ask: RestClient;
let read: RestSession['read'];
let write: RestSession['write'];
let ada: Person;
let rita: Person;
let articleId: number;

const CONTENT = { title: 'On machines', body: 'Two of them.', tags: ['engines', 'history'] };

beforeAll(async () => {
  installation = await shareInstallation();
  const people = await openPeople(installation);
  ask = restClientOf(installation);
  ({ read, write } = restSessionOver(ask));
  [ada, rita] = (await Promise.all([people.signUp('Ada'), people.signUp('Rita')])) as [Person, Person];
  const { written } = await write('POST', '/articles', {
    token: ada.token,
    body: { ...CONTENT, publish: true },
  });
  articleId = written.id;
});
afterAll(() => installation?.[Symbol.asyncDispose]());

test('an unchanged answer is not sent again', async () => {
  const first = await read(`/articles/${articleId}`);
  const etag = first.headers.get('etag') ?? '';
  expect(etag).toMatch(/^(W\/)?"\d+-[\w-]+"$/);
  const again = await read(`/articles/${articleId}`, { headers: { 'if-none-match': etag } });
  expect([again.status, again.body]).toEqual([304, '']);
  const head = await ask('HEAD', `/articles/${articleId}`);
  expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, '', etag]);
});

test('the links of a list lead to the end, and every item comes once', async () => {
  const titles = ['One', 'Two', 'Three', 'Four', 'Five'];
  for (const title of titles)
    await write('POST', '/articles', {
      token: ada.token,
      body: { ...CONTENT, title, tags: ['walk'], publish: true },
    });
  const seen: string[] = [];
  let path: string | undefined = '/articles?tag=walk&limit=2&sort=createdAt';
  while (path !== undefined) {
    const { status, headers, body }: Reply & { body: Article[] } = await read<Article[]>(path);
    expect(status).toBe(200);
    seen.push(...body.map(({ title }) => title));
    path = /<([^>]+)>; rel="?next"?/.exec(headers.get('link') ?? '')?.[1];
  }
  expect(seen).toEqual(titles);
  const hal = await read<{ _embedded: { items: Article[] } }>('/articles?tag=walk', {
    headers: { accept: 'application/hal+json' },
  });
  expect(hal.body._embedded.items.map(({ title }) => title)).toEqual(titles.toReversed());
});

test('lists are filtered by author, status, and words', async () => {
  const found = async (query: string, token?: string) =>
    (await read<Article[]>(`/articles?${query}`, { token })).body.map(({ id }) => id);
  expect(await found('q=machines')).toContain(articleId);
  expect(await found('q=machines%20-two')).not.toContain(articleId);
  expect(await found(`author=${ada.userId}`)).toContain(articleId);
  expect(await found(`author=${rita.userId}`)).toEqual([]);
  expect(await found('status=draft')).toEqual([]);
  const ofAda = (await read<Article[]>(`/users/${ada.userId}/articles`)).body;
  expect(ofAda.map(({ id }) => id)).toContain(articleId);
});

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

import { describe, expect } from 'vitest';
import { allEvents } from '../../test/engines/command-side.ts';
import { ARTICLE, make, test, type WriteApi } from '../../test/engines/write-api.ts';

const CURSOR = /^[0-9a-f]{8}-[0-9a-z]+$/;

describe('creation', () => {
  test.for<[string, string, (api: WriteApi) => Promise<string>, object]>([
    ['an article', '/articles', async () => '/articles', ARTICLE],
    ['an article under /api', '/articles', async () => '/api/articles', ARTICLE],
    ['a user', '/users', async () => '/users', { name: 'Grace', email: 'grace@example.com', role: 'author' }],
    [
      'a comment',
      '/comments',
      async (api) => `/articles/${await make(api, '/articles', { ...ARTICLE, publish: true })}/comments`,
      { text: 'Well said.' },
    ],
  ])('of %s returns 201 with its path, version and cursor', async ([, collection, path, body], { api }) => {
    const sent = { body, by: api.admin };
    const { status, headers, body: written } = await api.send('POST', await path(api), sent);
    expect(status).toBe(201);
    const self = `${collection}/${written.id}`;
    expect(written).toEqual({
      id: expect.any(Number),
      version: 1,
      cursor: expect.stringMatching(CURSOR),
      _links: { self: { href: self } },
    });
    expect(headers.get('location')).toBe(self);
    expect(headers.get('etag')).toBe('"1-"');
    expect(headers.get('consistency-token')).toBe(written.cursor);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('needs only fields without a default', async ({ api }) => {
    const { status, body } = await api.send('POST', '/articles', { body: { title: 'One', body: 'Text' } });
    expect(status).toBe(201);
    const event = (await allEvents(api.side)).at(-1);
    expect(event).toMatchObject({
      type: 'article.drafted',
      data: { articleId: body.id, title: 'One', body: 'Text', tags: [], cover: null },
    });
    // A patch finds the defaults that the creation set.
    const patch = [{ op: 'remove', path: '/tags' }];
    const headers = { 'Content-Type': 'application/json-patch+json' };
    expect(await api.send('PATCH', `/articles/${body.id}`, { body: patch, headers })).toMatchObject({
      status: 200,
      body: { version: 1 },
    });
  });

  test('returns HAL JSON on request', async ({ api }) => {
    const { status, headers } = await api.send('POST', '/articles', {
      body: ARTICLE,
      headers: { Accept: 'application/hal+json' },
    });
    expect({ status, type: headers.get('content-type') }).toMatchObject({
      status: 201,
      type: expect.stringContaining('hal+json'),
    });
  });
});

describe('an update', () => {
  const PATCHES: readonly (readonly [string, object | readonly object[]])[] = [
    ['application/merge-patch+json', { title: 'Two' }],
    ['application/json', { title: 'Two' }],
    ['application/json; charset=utf-8', { title: 'Two' }],
    ['application/json-patch+json', [{ op: 'replace', path: '/title', value: 'Two' }]],
  ];
  test.for(PATCHES)(
    'by a patch of %s returns 200 with the new version, or with the same version if nothing changes',
    async ([type, body], { api }) => {
      const path = `/articles/${await make(api, '/articles', ARTICLE)}`;
      const first = await api.send('PATCH', path, { body, headers: { 'Content-Type': type } });
      expect(first).toMatchObject({ status: 200, body: { version: 2, _links: { self: { href: path } } } });
      expect(first.headers.get('etag')).toMatch(/^"2-/);
      expect(first.headers.get('consistency-token')).toBe(first.body.cursor);
      const again = await api.send('PATCH', path, { body, headers: { 'Content-Type': type } });
      expect(again).toMatchObject({ status: 200, body: first.body });
      expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    },
  );

  test('by a PUT replaces the whole, and may contain read-only fields', async ({ api }) => {
    const id = await make(api, '/articles', { ...ARTICLE, cover: 'https://example.com/a.png' });
    const got = {
      id,
      ...ARTICLE,
      title: 'Two',
      cover: null,
      status: 'draft',
      author: { id: 1, name: 'x' },
      _links: {},
    };
    expect(await api.send('PUT', `/articles/${id}`, { body: got })).toMatchObject({
      status: 200,
      body: { id, version: 2 },
    });
    expect(await api.send('PUT', `/articles/${id}`, { body: { title: 'Three' } })).toMatchObject({
      status: 422,
      body: {
        code: 'invalid_request',
        errors: [{ pointer: '/body' }, { pointer: '/tags' }, { pointer: '/cover' }],
      },
    });
  });
});

test('a deletion returns 204 without a body, again if repeated; afterwards the item is not found', async ({
  api,
}) => {
  const article = `/articles/${await make(api, '/articles', { ...ARTICLE, publish: true })}`;
  const comment = `/comments/${await make(api, `${article}/comments`, { text: 'One' })}`;
  const user = `/users/${await make(api, '/users', { name: 'Grace' }, api.admin)}`;
  for (const [path, body] of [
    [comment, { text: 'x' }],
    [article, { ...ARTICLE, cover: null }],
    [user, { name: 'x', email: null }],
  ] as const) {
    for (let each = 0; each < 2; each += 1) {
      const { status, headers, body: written } = await api.send('DELETE', path, { by: api.admin });
      expect({ path, status, written }).toEqual({ path, status: 204, written: {} });
      expect(headers.get('consistency-token')).toMatch(CURSOR);
      expect(headers.get('etag')).toBeNull();
    }
    expect(await api.send('PUT', path, { body, by: api.admin })).toMatchObject({ status: 404 });
  }
});

describe('rights', () => {
  test('a reader without the right is refused before the body is validated', async ({ api }) => {
    const body = '{ "title"';
    expect(await api.send('POST', '/articles', { body, by: api.reader })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    expect(await api.send('POST', '/users', { body, by: api.author })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
  });
});

describe('one’s own e-mail address', () => {
  const refused = { status: 403, body: { code: 'email_changed_by_application' } };

  test.for(['reader', 'admin'] as const)(
    'of a %s is not changed by an application, whichever way it asks',
    async (role, { api }) => {
      const id = (await make(
        api,
        '/users',
        { name: 'Ada', email: `${role}.own@example.com`, role },
        api.admin,
      )) as never;
      const [by, path] = [{ ...api.reader, id, role }, `/users/${id}`];
      const email = `${role}.elsewhere@example.com`;
      expect(await api.send('PATCH', path, { body: { email }, by })).toMatchObject(refused);
      expect(await api.send('PATCH', path, { body: { email: null }, by })).toMatchObject(refused);
      expect(await api.send('PUT', path, { body: { name: 'Ada', email }, by })).toMatchObject(refused);
      const headers = { 'Content-Type': 'application/json-patch+json' };
      const patch = { headers, body: [{ op: 'replace', path: '/email', value: email }], by };
      expect(await api.send('PATCH', path, patch)).toMatchObject(refused);
      expect(
        await api.send('PUT', path, { body: { name: 'Ada L', email: `${role}.own@example.com` }, by }),
      ).toMatchObject({ status: 200 });
      expect(await api.send('PATCH', path, { body: { email }, by: api.admin })).toMatchObject({
        status: 200,
      });
    },
  );
});

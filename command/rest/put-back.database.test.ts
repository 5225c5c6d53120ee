import { describe, expect } from 'vitest';
import { ARTICLE, make, test, type WriteApi } from '../../test/engines/write-api.ts';
import { WEBHOOK_FORM } from '../../test/webhook-form.ts';

const READ = {
  createdAt: '2026-01-02T03:04:05.678Z',
  updatedAt: '2026-01-02T03:04:05.678Z',
  _links: { self: { href: '/x' } },
};
const COVER = 'https://example.com/a.png';

const { enabled: _, ...FORM } = WEBHOOK_FORM;
const WEBHOOK = { ...FORM, description: 'The shop', headers: { 'X-Team': 'blue' } };

/** Items as read, each with its path. */
const ITEMS: readonly (readonly [string, (api: WriteApi) => Promise<{ path: string; item: object }>])[] = [
  [
    'a user',
    async (api) => {
      const { id } = api.author;
      return { path: `/users/${id}`, item: { ...READ, id, name: 'A author', email: null, role: 'author' } };
    },
  ],
  [
    'an article',
    async (api) => {
      const id = await make(api, '/articles', { ...ARTICLE, cover: COVER });
      const author = { id: api.author.id, name: 'A author' };
      return {
        path: `/articles/${id}`,
        item: { ...READ, ...ARTICLE, id, cover: COVER, status: 'draft', author, publishedAt: null },
      };
    },
  ],
  [
    'a comment',
    async (api) => {
      const articleId = await make(api, '/articles', { ...ARTICLE, publish: true });
      const id = await make(api, `/articles/${articleId}/comments`, { text: 'One' });
      return {
        path: `/comments/${id}`,
        item: { ...READ, id, articleId, text: 'One', author: { id: api.author.id, name: 'A author' } },
      };
    },
  ],
  [
    'a webhook',
    async (api) => {
      const id = await make(api, '/webhooks', WEBHOOK);
      const state = {
        enabled: true,
        status: 'enabled',
        ownerId: api.author.id,
        scopes: ['manage:webhooks'],
      };
      return {
        path: `/webhooks/${id}`,
        item: { ...READ, ...WEBHOOK, id, ...state, headers: { 'X-Team': '********' } },
      };
    },
  ],
];

test.for(ITEMS)('%s can be sent back unchanged without effect', async ([, prepare], { api }) => {
  const { path, item } = await prepare(api);
  const head = await api.side.eventLog.head();
  expect(await api.send('PUT', path, { body: item })).toMatchObject({ status: 200, body: { version: 1 } });
  expect(await api.side.eventLog.head()).toBe(head);
});

test('a role may be sent unchanged by anyone, and changed only with the right', async ({ api }) => {
  const path = `/users/${api.reader.id}`;
  expect(await api.send('PATCH', path, { body: { role: 'reader' }, by: api.reader })).toMatchObject({
    status: 200,
  });
  expect(await api.send('PATCH', path, { body: { role: 'admin' }, by: api.reader })).toMatchObject({
    status: 403,
  });
  expect(await api.send('PATCH', path, { body: { role: 'reader' }, by: api.author })).toMatchObject({
    status: 403,
  });
});

describe('a field whose absence would clear it must be present', () => {
  test.for<[string, (api: WriteApi) => Promise<string>, object, string]>([
    ['an e-mail address', async (api) => `/users/${api.author.id}`, { name: 'Ada' }, '/email'],
    [
      'a webhook’s description',
      async (api) => `/webhooks/${await make(api, '/webhooks', WEBHOOK)}`,
      { ...WEBHOOK, description: undefined },
      '/description',
    ],
    [
      'headers',
      async (api) => `/webhooks/${await make(api, '/webhooks', WEBHOOK)}`,
      { ...WEBHOOK, headers: undefined },
      '/headers',
    ],
    ['a cover', async (api) => `/articles/${await make(api, '/articles', ARTICLE)}`, ARTICLE, '/cover'],
  ])('%s', async ([, pathOf, body, pointer], { api }) => {
    const errors = [{ pointer, detail: 'Is missing.' }];
    expect(await api.send('PUT', await pathOf(api), { body })).toMatchObject({
      status: 422,
      body: { code: 'invalid_request', errors },
    });
  });
});

test('a comment that its author can no longer read cannot be changed, but deleted', async ({ api }) => {
  const articleId = await make(api, '/articles', { ...ARTICLE, publish: true });
  const path = `/comments/${await make(api, `/articles/${articleId}/comments`, { text: 'One' }, api.reader)}`;
  await api.send('POST', `/articles/${articleId}/unpublish`);
  const hidden = { status: 404, body: { code: 'comment_not_found' } };
  const patch = {
    body: [{ op: 'replace', path: '/text', value: 'Two' }],
    headers: { 'Content-Type': 'application/json-patch+json' },
  };
  expect(await api.send('PATCH', path, { body: { text: 'Two' }, by: api.reader })).toMatchObject(hidden);
  expect(await api.send('PUT', path, { body: { text: 'Two' }, by: api.reader })).toMatchObject(hidden);
  expect(await api.send('PATCH', path, { ...patch, by: api.reader })).toMatchObject(hidden);
  expect(await api.send('DELETE', path, { by: api.reader })).toMatchObject({ status: 204 });
});

test('a token that may only write changes a comment that its author could read', async ({ api }) => {
  const articleId = await make(api, '/articles', { ...ARTICLE, publish: true });
  const path = `/comments/${await make(api, `/articles/${articleId}/comments`, { text: 'One' }, api.reader)}`;
  const by = { ...api.reader, scope: 'write:comments' };
  expect(await api.send('PATCH', path, { body: { text: 'Two' }, by })).toMatchObject({
    status: 200,
    body: { version: 2 },
  });
});

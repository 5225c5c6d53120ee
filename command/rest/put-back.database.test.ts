import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ARTICLE, createWriteWorld, make, type WriteWorld } from '../../test/engines/write-world.ts';
import { WEBHOOK_FORM } from '../../test/webhook-form.ts';

let world: WriteWorld;
beforeAll(async () => {
  world = await createWriteWorld();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

const READ = {
  createdAt: '2026-01-02T03:04:05.678Z',
  updatedAt: '2026-01-02T03:04:05.678Z',
  _links: { self: { href: '/x' } },
};
const COVER = 'https://example.com/a.png';

const { enabled: _, ...FORM } = WEBHOOK_FORM;
const WEBHOOK = { ...FORM, description: 'The shop', headers: { 'X-Team': 'blue' } };

/** Items as read, each with its path. */
const ITEMS: readonly (readonly [string, () => Promise<{ path: string; item: object }>])[] = [
  [
    'a user',
    async () => {
      const { id } = world.author;
      return { path: `/users/${id}`, item: { ...READ, id, name: 'A author', email: null, role: 'author' } };
    },
  ],
  [
    'an article',
    async () => {
      const id = await make(world, '/articles', { ...ARTICLE, cover: COVER });
      const author = { id: world.author.id, name: 'A author' };
      return {
        path: `/articles/${id}`,
        item: { ...READ, ...ARTICLE, id, cover: COVER, status: 'draft', author, publishedAt: null },
      };
    },
  ],
  [
    'a comment',
    async () => {
      const articleId = await make(world, '/articles', { ...ARTICLE, publish: true });
      const id = await make(world, `/articles/${articleId}/comments`, { text: 'One' });
      return {
        path: `/comments/${id}`,
        item: { ...READ, id, articleId, text: 'One', author: { id: world.author.id, name: 'A author' } },
      };
    },
  ],
  [
    'a webhook',
    async () => {
      const id = await make(world, '/webhooks', WEBHOOK);
      const state = {
        enabled: true,
        status: 'enabled',
        ownerId: world.author.id,
        scopes: ['manage:webhooks'],
      };
      return {
        path: `/webhooks/${id}`,
        item: { ...READ, ...WEBHOOK, id, ...state, headers: { 'X-Team': '********' } },
      };
    },
  ],
];

test.each(ITEMS)('%s can be sent back unchanged without effect', async (_, prepare) => {
  const { path, item } = await prepare();
  const head = await world.side.eventLog.head();
  expect(await world.send('PUT', path, { body: item })).toMatchObject({ status: 200, body: { version: 1 } });
  expect(await world.side.eventLog.head()).toBe(head);
});

test('a role may be sent unchanged by anyone, and changed only with the right', async () => {
  const path = `/users/${world.reader.id}`;
  expect(await world.send('PATCH', path, { body: { role: 'reader' }, by: world.reader })).toMatchObject({
    status: 200,
  });
  expect(await world.send('PATCH', path, { body: { role: 'admin' }, by: world.reader })).toMatchObject({
    status: 403,
  });
  expect(await world.send('PATCH', path, { body: { role: 'reader' }, by: world.author })).toMatchObject({
    status: 403,
  });
});

describe('a field whose absence would clear it must be present', () => {
  test.each<[string, () => Promise<string>, object, string]>([
    ['an e-mail address', async () => `/users/${world.author.id}`, { name: 'Ada' }, '/email'],
    [
      'a webhook’s description',
      async () => `/webhooks/${await make(world, '/webhooks', WEBHOOK)}`,
      { ...WEBHOOK, description: undefined },
      '/description',
    ],
    [
      'headers',
      async () => `/webhooks/${await make(world, '/webhooks', WEBHOOK)}`,
      { ...WEBHOOK, headers: undefined },
      '/headers',
    ],
    ['a cover', async () => `/articles/${await make(world, '/articles', ARTICLE)}`, ARTICLE, '/cover'],
  ])('%s', async (_, pathOf, body, pointer) => {
    const errors = [{ pointer, detail: 'Is missing.' }];
    expect(await world.send('PUT', await pathOf(), { body })).toMatchObject({
      status: 422,
      body: { code: 'invalid_request', errors },
    });
  });
});

test('a comment that its author can no longer read cannot be changed, but deleted', async () => {
  const articleId = await make(world, '/articles', { ...ARTICLE, publish: true });
  const path = `/comments/${await make(world, `/articles/${articleId}/comments`, { text: 'One' }, world.reader)}`;
  await world.send('POST', `/articles/${articleId}/unpublish`);
  const hidden = { status: 404, body: { code: 'comment_not_found' } };
  const patch = {
    body: [{ op: 'replace', path: '/text', value: 'Two' }],
    headers: { 'Content-Type': 'application/json-patch+json' },
  };
  expect(await world.send('PATCH', path, { body: { text: 'Two' }, by: world.reader })).toMatchObject(hidden);
  expect(await world.send('PUT', path, { body: { text: 'Two' }, by: world.reader })).toMatchObject(hidden);
  expect(await world.send('PATCH', path, { ...patch, by: world.reader })).toMatchObject(hidden);
  expect(await world.send('DELETE', path, { by: world.reader })).toMatchObject({ status: 204 });
});

test('a token that may only write changes a comment that its author could read', async () => {
  const articleId = await make(world, '/articles', { ...ARTICLE, publish: true });
  const path = `/comments/${await make(world, `/articles/${articleId}/comments`, { text: 'One' }, world.reader)}`;
  const by = { ...world.reader, scope: 'write:comments' };
  expect(await world.send('PATCH', path, { body: { text: 'Two' }, by })).toMatchObject({
    status: 200,
    body: { version: 2 },
  });
});

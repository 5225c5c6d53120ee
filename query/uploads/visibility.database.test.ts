import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Asker, type Backend, openBackend } from '../../test/engines/backend.ts';
import { picture } from '../../test/engines/pictures.ts';

let backend: Backend;
let [author, stranger, admin] = [] as unknown as [Asker, Asker, Asker];
let article: number;
let cover: string;
beforeAll(async () => {
  backend = await openBackend();
  [author, stranger, admin] = [
    await backend.person('author'),
    await backend.person('author'),
    await backend.person('admin'),
  ];
  article = ((await write('POST', '/articles', { title: 'A draft', body: '', tags: [] })) as { id: number })
    .id;
  await putCover();
});
afterAll(() => backend?.[Symbol.asyncDispose]());

const write = async (method: string, path: string, body?: object) => {
  const reply = await backend.ask(path, { by: author, method, ...(body && { body }) });
  expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
  return reply.body;
};
const putCover = async () => {
  const headers = { ...(await backend.authorization(author)), 'content-type': 'image/png' };
  const response = await fetch(`${backend.url}/articles/${article}/cover`, {
    method: 'PUT',
    headers,
    body: picture('image/png'),
  });
  expect(response.status).toBe(200);
  cover = ((await backend.ask(`/articles/${article}`, { by: author })).body as { cover: string }).cover;
};

/** Requests a picture like a browser or a program, after all writes are visible. */
const get = async (path: string, by: Asker | null = null, headers = {}) => {
  await backend.ask('/articles', { by: null });
  const response = await fetch(`${backend.url}${path}`, {
    headers: { ...(await backend.authorization(by)), ...headers },
  });
  return {
    status: response.status,
    caching: response.headers.get('cache-control'),
    body: await response.text(),
  };
};
const statuses = async (path: string, headers = {}) =>
  Promise.all([null, stranger, author, admin].map(async (by) => (await get(path, by, headers)).status));

test('a picture is as visible as its article, and shared caches store it only while that is published', async () => {
  expect(await statuses(cover)).toEqual([404, 404, 200, 200]);
  expect(await statuses(cover, { 'if-none-match': `"${cover.slice('/uploads/'.length)}"` })).toEqual([
    404, 404, 304, 304,
  ]);
  expect((await get(cover, author)).caching).toBe('private, no-cache');
  expect(await get(cover)).toMatchObject({ status: 404, caching: 'no-store' });
  await write('POST', `/articles/${article}/publish`);
  expect(await statuses(cover)).toEqual([200, 200, 200, 200]);
  expect((await get(cover)).caching).toBe('public, max-age=300');
  await write('POST', `/articles/${article}/unpublish`);
  expect(await statuses(cover)).toEqual([404, 404, 200, 200]);
});

test('a signed address shows its picture without a token, no other picture, and only unaltered', async () => {
  expect(await statuses(`${cover}/address`)).toEqual([404, 404, 200, 200]);
  const { href, expiresAt } = JSON.parse((await get(`${cover}/address`, author)).body) as {
    href: string;
    expiresAt: string;
  };
  const left = Date.parse(expiresAt) - Date.now();
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(300_000);
  const shown = await get(href);
  expect([shown.status, shown.caching]).toEqual([200, expect.stringMatching(/^private, max-age=\d+$/)]);
  const address = new URL(href, backend.url);
  const altered = (name: string, value: string) => {
    const other = new URL(address);
    other.searchParams.set(name, value);
    return `${other.pathname}${other.search}`;
  };
  const until = Number(address.searchParams.get('until'));
  for (const path of [
    altered('until', String(until + 1)),
    altered('until', '1'),
    altered('until', 'x'),
    altered('signature', 'AAAA'),
  ])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  const former = href;
  await putCover();
  const query = former.slice(former.indexOf('?'));
  expect((await get(`${cover}${query}`)).status).toBe(404);
});

test('an unknown picture has no address', async () => {
  for (const path of ['/uploads/8001-0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.png/address', '/uploads/x/address'])
    expect((await get(path, admin)).status).toBe(404);
});

test('GraphQL gives a signed address of the cover to callers who may read the post, and none of a former cover', async () => {
  const ask = async (by: Asker | null, args = '') => {
    await backend.ask('/articles', { by: null });
    const query = `{ post(id: ${article}${args}) { version cover coverAddress { href expiresAt } } }`;
    const { body } = await backend.ask('/graphql', { by, method: 'POST', body: { query } });
    expect(body).not.toHaveProperty('errors');
    return (
      body as {
        data: {
          post: {
            version: number;
            cover: string;
            coverAddress: { href: string; expiresAt: string } | null;
          } | null;
        };
      }
    ).data.post;
  };
  expect([await ask(null), await ask(stranger)]).toEqual([null, null]);
  const post = await ask(author);
  const address = post?.coverAddress;
  expect(address?.href).toContain(`${post?.cover}?until=`);
  expect(Date.parse(address?.expiresAt ?? '')).toBeGreaterThan(Date.now());
  expect((await get(address?.href ?? '')).status).toBe(200);
  await write('DELETE', `/articles/${article}/cover`);
  expect(await ask(author)).toMatchObject({ cover: null, coverAddress: null });
  expect(await ask(author, `, at: "v${post?.version}"`)).toEqual({ ...post, coverAddress: null });
});

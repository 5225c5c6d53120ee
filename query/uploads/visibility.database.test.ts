import { expect } from 'vitest';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { picture } from '../../test/engines/pictures.ts';

const test = base
  .extend('article', { scope: 'file' }, ({ author, write }) =>
    write(author, 'POST', '/articles', { title: 'A draft', body: '', tags: [] }),
  )
  .extend('putCover', { scope: 'file' }, ({ article, author, backend }) => async () => {
    const headers = { ...(await backend.authorization(author)), 'content-type': 'image/png' };
    const at = `${backend.url}/articles/${article}/cover`;
    const response = await fetch(at, { method: 'PUT', headers, body: picture('image/png') });
    expect(response.status).toBe(200);
    const { body } = await backend.ask(`/articles/${article}`, { by: author });
    return (body as { cover: string }).cover;
  })
  .extend('cover', { scope: 'file' }, ({ putCover }) => putCover())
  /** Requests a picture like a browser or a program, after all writes are visible. */
  .extend(
    'get',
    { scope: 'file' },
    ({ backend }) =>
      async (path: string, by?: Asker | null, headers = {}) => {
        await backend.ask('/articles', { by: null });
        const response = await fetch(`${backend.url}${path}`, {
          headers: { ...(await backend.authorization(by ?? null)), ...headers },
        });
        return {
          status: response.status,
          caching: response.headers.get('cache-control'),
          body: await response.text(),
        };
      },
  )
  .extend(
    'statuses',
    { scope: 'file' },
    ({ admin, author, get, stranger }) =>
      async (path: string, headers = {}) =>
        Promise.all([null, stranger, author, admin].map(async (by) => (await get(path, by, headers)).status)),
  );

test('a picture is as visible as its article, and shared caches store it only while that is published', async ({
  article,
  author,
  cover,
  get,
  statuses,
  write,
}) => {
  expect(await statuses(cover)).toEqual([404, 404, 200, 200]);
  expect(await statuses(cover, { 'if-none-match': `"${cover.slice('/uploads/'.length)}"` })).toEqual([
    404, 404, 304, 304,
  ]);
  expect((await get(cover, author)).caching).toBe('private, no-cache');
  expect(await get(cover)).toMatchObject({ status: 404, caching: 'no-store' });
  await write(author, 'POST', `/articles/${article}/publish`);
  expect(await statuses(cover)).toEqual([200, 200, 200, 200]);
  expect((await get(cover)).caching).toBe('public, max-age=300');
  await write(author, 'POST', `/articles/${article}/unpublish`);
  expect(await statuses(cover)).toEqual([404, 404, 200, 200]);
});

test('a signed address shows its picture without a token, no other picture, and only unaltered', async ({
  author,
  backend,
  cover,
  get,
  putCover,
  statuses,
}) => {
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
  const later = await putCover();
  const query = href.slice(href.indexOf('?'));
  expect((await get(`${later}${query}`)).status).toBe(404);
});

test('an unknown picture has no address', async ({ admin, get }) => {
  for (const path of ['/uploads/8001-0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.png/address', '/uploads/x/address'])
    expect((await get(path, admin)).status).toBe(404);
});

test('GraphQL gives a signed address of the cover to callers who may read the post, and none of a former cover', async ({
  article,
  author,
  backend,
  get,
  stranger,
  write,
}) => {
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
  await write(author, 'DELETE', `/articles/${article}/cover`);
  expect(await ask(author)).toMatchObject({ cover: null, coverAddress: null });
  expect(await ask(author, `, at: "v${post?.version}"`)).toEqual({ ...post, coverAddress: null });
});

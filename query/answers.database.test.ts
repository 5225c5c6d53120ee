import { describe, expect } from 'vitest';
import { test as base } from '../test/engines/backend.ts';
import { addComment, as, by, draftArticle } from '../test/engines/command-side.ts';
import { linkIn } from '../test/links.ts';
import type { ArticleId } from '../test/publishing-ids.ts';

const seventh = async <Made>(make: () => Promise<Made>): Promise<Made> => {
  for (let n = 1; n < 7; n += 1) await make();
  return make();
};
const test = base.extend('written', { scope: 'file' }, async ({ author, backend }) => {
  const articleId = await seventh(() => draftArticle(backend.side, author.id));
  const commentId = await seventh(() => addComment(backend.side, author.id, articleId));
  await seventh(() => backend.person('reader'));
  const lists = ['/articles', '/users', `/users/${author.id}/articles`, `/articles/${articleId}/comments`];
  const paths = [...lists, `/articles/${articleId}`, `/users/${author.id}`, `/comments/${commentId}`];
  return { articleId, lists, paths };
});

const HAL = { accept: 'application/hal+json' };

describe('response representations', () => {
  test('an answer is JSON unless the client prefers HAL; the items are the same in both', async ({
    backend,
    written: { lists, paths },
  }) => {
    for (const path of paths) {
      const [json, hal] = [await backend.ask(path), await backend.ask(path, { headers: HAL })];
      expect(json.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(hal.headers.get('content-type')).toBe('application/hal+json; charset=utf-8');
      expect(hal.headers.get('etag')).not.toBe(json.headers.get('etag'));
      if (lists.includes(path))
        expect(hal.body).toEqual({ _links: { self: { href: path } }, _embedded: { items: json.body } });
      else expect(hal.body).toEqual(json.body);
    }
  });

  test.for<[string, string | undefined]>([
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['text/html, application/json;q=0.5', 'application/json'],
    ['application/json;q=0.5, application/hal+json', 'application/hal+json'],
    ['application/json;q=0, */*', 'application/hal+json'],
    ['APPLICATION/HAL+JSON', 'application/hal+json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['text/html', undefined],
    ['application/json;q=0', undefined],
    ['nonsense', undefined],
  ])('for Accept: %s is %s', async ([accept, type], { backend, written: { articleId } }) => {
    for (const path of ['/articles', `/articles/${articleId}`]) {
      const { status, headers, body } = await backend.ask(path, { headers: { accept } });
      if (type === undefined)
        expect({ status, body }).toMatchObject({ status: 406, body: { code: 'not_acceptable' } });
      else expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([200, type]);
    }
  });

  test('HEAD has the headers of GET and no body', async ({ backend, written: { paths } }) => {
    for (const path of paths) {
      const [get, head] = [await backend.ask(path), await backend.ask(path, { method: 'HEAD' })];
      expect([head.status, head.body]).toEqual([200, '']);
      for (const name of ['etag', 'content-type', 'content-length', 'cache-control', 'vary', 'link'])
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
    }
    expect((await backend.ask('/articles/1', { method: 'HEAD' })).status).toBe(404);
  });
});

describe('caching', () => {
  test('anonymous answers are shared, signed-in ones private, and both are revalidated', async ({
    author,
    backend,
    written: { paths },
  }) => {
    for (const path of paths) {
      const { headers } = await backend.ask(path);
      expect(headers.get('cache-control')).toBe('public, no-cache');
      expect(headers.get('vary')?.split(', ')).toEqual(expect.arrayContaining(['Accept', 'Authorization']));
      expect((await backend.ask(path, { by: author })).headers.get('cache-control')).toBe(
        'private, no-cache',
      );
    }
    expect((await backend.ask('/articles/1')).headers.get('cache-control')).toBe('no-store');
  });

  test('revalidation answers 304, also to Node’s fetch, which forbids caches to answer', async ({
    backend,
    written: { paths },
  }) => {
    for (const path of paths) {
      const { headers } = await backend.ask(path);
      const etag = headers.get('etag') ?? '';
      expect(etag).toMatch(/^"\d*-[\w-]{16}(?:\.gzip)?"$/);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await backend.ask(path, { headers: { 'if-none-match': known } });
        expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, '', etag]);
        expect(again.headers.get('cache-control')).toBe('public, no-cache');
        expect(again.headers.get('vary')).toBe(headers.get('vary'));
      }
      expect((await backend.ask(path, { headers: { 'if-none-match': '"0-other", nonsense' } })).status).toBe(
        200,
      );
      expect((await backend.ask(path, { headers: { ...HAL, 'if-none-match': etag } })).status).toBe(200);
    }
  });

  test('the tag of an item ends with its version, its caller and its representation', async ({
    author,
    backend,
  }) => {
    const path = `/articles/${await draftArticle(backend.side, author.id)}`;
    const mine = (await backend.ask(path, { by: author })).headers.get('etag') ?? '';
    expect(mine).toMatch(/^"2-/);
    expect((await backend.ask(path, { headers: { 'if-none-match': mine } })).status).toBe(200);
    await backend.side.send(
      { type: 'EditArticle', articleId: Number(path.split('/')[2]) as ArticleId, title: 'Two' },
      by(as(author.id)),
    );
    const { status, headers } = await backend.ask(path, { by: author, headers: { 'if-none-match': mine } });
    expect(status).toBe(200);
    expect(headers.get('etag')).toMatch(/^"3-/);
    expect(
      (
        await backend.ask(path, {
          by: author,
          method: 'PATCH',
          body: { title: 'Three' },
          headers: { 'if-match': mine },
        })
      ).status,
    ).toBe(412);
  });

  test('only callers who see all of a user get the version in its tag', async ({ author, backend }) => {
    const path = `/users/${author.id}`;
    const { headers } = await backend.ask(path);
    expect(headers.get('etag')).toMatch(/^"-/);
    await backend.side.send(
      { type: 'UpdateUser', userId: author.id, email: 'ada@example.com' },
      by(as(1, 'admin')),
    );
    expect(
      (await backend.ask(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } })).status,
    ).toBe(304);
    const own = (await backend.ask(path, { by: author })).headers.get('etag') ?? '';
    expect(own).toMatch(/^"2-/);
    const rename = (tag: string) =>
      backend.ask(path, { by: author, method: 'PATCH', body: { name: 'Ada' }, headers: { 'if-match': tag } });
    expect((await rename(headers.get('etag') ?? '')).status).toBe(412);
    expect((await rename(own)).status).toBe(200);
  });

  test('the tag of a page changes when another page comes after it', async ({
    author,
    backend,
    written: { articleId },
  }) => {
    const list = `/articles/${articleId}/comments?limit=7`;
    const { headers } = await backend.ask(list);
    expect(headers.get('link')).toBeNull();
    await addComment(backend.side, author.id, articleId);
    const again = await backend.ask(list, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    expect(again.status).toBe(200);
    expect(linkIn(again.headers)).toContain(`/articles/${articleId}/comments?limit=7&after=`);
  });
});

describe('pages', () => {
  test('pages link both ways in both representations, and hold each item once', async ({
    backend,
    written: { lists },
  }) => {
    for (const list of lists) {
      const all = (await backend.ask(`${list}?limit=100`)).body as readonly unknown[];
      const there: unknown[] = [];
      let path: string | undefined = `${list}?limit=3&sort=-createdAt`;
      let last = path;
      while (path !== undefined) {
        last = path;
        const { headers, body } = await backend.ask(path);
        there.push(...(body as readonly unknown[]));
        const hal = (await backend.ask(path, { headers: HAL })).body as {
          _links: Record<string, { href: string }>;
        };
        expect(hal._links.self?.href).toBe(path);
        for (const rel of ['next', 'prev', 'first']) expect(hal._links[rel]?.href).toBe(linkIn(headers, rel));
        path = linkIn(headers);
      }
      expect(there).toEqual(list.endsWith('comments') ? all.toReversed() : all);
      const back: unknown[] = [];
      for (let to: string | undefined = last; to !== undefined; ) {
        const { headers, body } = await backend.ask(to);
        back.unshift(...(body as readonly unknown[]));
        to = linkIn(headers, 'prev');
      }
      expect(back).toEqual(there);
    }
  });
});

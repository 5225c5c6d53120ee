// Over 200 lines, because all tests share the fixture made at the beginning.
import { describe, expect } from 'vitest';
import { admit, scopeOf } from '#shared/policy.ts';
import { type Asker, test as base } from '../test/engines/backend.ts';
import { addComment, as, by, draftArticle } from '../test/engines/command-side.ts';
import { OPERATIONS } from '../test/engines/operations.ts';
import { POLICY, SCOPES } from '../test/engines/policy.ts';
import type { ArticleId, CommentId } from '../test/publishing-ids.ts';
import { until } from '../testing/until.ts';

type Row = Record<string, unknown>;
type Askers = Record<string, Asker | null> & Record<'author' | 'other' | 'reader' | 'admin', Asker>;

const test = base
  .extend('askers', { scope: 'file' }, async ({ backend }): Promise<Askers> => {
    const [author, other, reader, admin] = [
      await backend.person('author', 'author'),
      await backend.person('author', 'other'),
      await backend.person('reader', 'reader'),
      await backend.person('admin', 'admin'),
    ];
    const service = { ...author, scopes: ['read:articles', 'read:comments', 'read:users'] };
    return { author, other, reader, admin, anonymous: null, service, demoted: { ...author, role: 'reader' } };
  })
  .extend(
    'ids',
    { scope: 'file' },
    async ({ askers, backend: { side } }): Promise<Record<string, number>> => {
      const { author, other, reader } = askers;
      const published = await draftArticle(side, author.id);
      const draft = await draftArticle(side, author.id, false);
      const withdrawn = await draftArticle(side, author.id);
      const others = await draftArticle(side, other.id, false);
      const comment = await addComment(side, reader.id, published);
      const hidden = await addComment(side, reader.id, withdrawn);
      await side.send({ type: 'UnpublishArticle', articleId: withdrawn }, by(as(author.id)));
      return { published, draft, withdrawn, others, comment, hidden };
    },
  )
  .extend(
    'read',
    { scope: 'file' },
    ({ askers, backend }) =>
      async <Body = Row>(path: string, name: string) => {
        const asked = { by: askers[name] as Asker | null, headers: { 'x-request-id': 'test' } };
        const { status, body } = await backend.ask(path, asked);
        return { status, body: body as Body };
      },
  )
  .extend('idsOf', { scope: 'file' }, ({ ids, read }) => async (path: string, name: string) => {
    const { status, body } = await read<{ id: number }[]>(path, name);
    expect(status).toBe(200);
    return body.map(({ id }) => Object.entries(ids).find(([, known]) => known === id)?.[0] ?? id);
  })
  .extend('graphql', { scope: 'file' }, ({ backend }) => async (query: string, by: Asker) => {
    const { status, body } = await backend.ask('/graphql', { by, method: 'POST', body: { query } });
    return { status, body: body as { data?: unknown } };
  });

describe('articles', () => {
  const EVERYBODY = ['published'];
  const OWN = ['withdrawn', 'draft', 'published'];
  test.for<[string, string[]]>([
    ['anonymous', EVERYBODY],
    ['reader', EVERYBODY],
    ['demoted', EVERYBODY],
    ['other', ['others', 'published']],
    ['author', OWN],
    ['service', OWN],
    ['admin', ['others', ...OWN]],
  ])(
    '%s is shown those that they may read, one by one and in lists',
    async ([name, seen], { askers, ids, idsOf, read }) => {
      expect(await idsOf('/articles', name)).toEqual(seen);
      for (const each of ['published', 'draft', 'withdrawn', 'others']) {
        const { status, body } = await read(`/articles/${ids[each]}`, name);
        expect([each, status]).toEqual([each, seen.includes(each) ? 200 : 404]);
        expect(body).toMatchObject(seen.includes(each) ? { id: ids[each] } : { code: 'article_not_found' });
        // Lists show the same of an item as the item itself.
        if (status === 200) expect((await read('/articles', name)).body).toContainEqual(body);
      }
      const ofAuthor = seen.filter((each) => each !== 'others');
      expect(await idsOf(`/users/${askers.author.id}/articles`, name)).toEqual(ofAuthor);
      expect(await idsOf(`/articles?author=${askers.author.id}`, name)).toEqual(ofAuthor);
      expect(await idsOf('/articles?status=draft&sort=createdAt', name)).toEqual(
        seen.filter((each) => each !== 'published').toReversed(),
      );
      expect(await idsOf('/articles?sort=-publishedAt', name)).toEqual(EVERYBODY);
      expect(await idsOf('/articles?status=draft&sort=publishedAt', name)).toEqual([]);
    },
  );

  test('articles have the values of their fields', async ({ askers, backend, idsOf, read }) => {
    const { author } = askers;
    const content = {
      title: 'Looms',
      body: 'The *Jacquard* loom weaves.',
      tags: ['looms', 'history'],
      cover: 'https://example.com/a.png',
    };
    const { id } = await backend.side.send(
      { type: 'DraftArticle', ...content, publish: true },
      by(as(author.id)),
    );
    const { body } = await read(`/articles/${id}`, 'anonymous');
    expect(body).toMatchObject({
      id,
      ...content,
      status: 'published',
      author: { id: author.id, name: 'author' },
    });
    expect(body.publishedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const found = (filter: Record<string, string>) =>
      idsOf(`/articles?${new URLSearchParams(filter)}`, 'anonymous');
    const hits = ['jacquard', 'LOOM', '"loom weaves"', 'jacquard -engine', 'nothing or looms'];
    const misses = ['"weaves loom"', 'jacquard -loom', `it's | & ! ( :* \\ nothing`];
    expect(await Promise.all(hits.map((q) => found({ q })))).toEqual(hits.map(() => [id]));
    expect(await Promise.all(misses.map((q) => found({ q })))).toEqual(misses.map(() => []));
    expect(await Promise.all([found({ tag: 'looms' }), found({ tag: 'history', q: 'looms' })])).toEqual([
      [id],
      [id],
    ]);
    expect(await Promise.all([found({ tag: 'loom' }), found({ tag: 'looms', q: 'engines' })])).toEqual([
      [],
      [],
    ]);
    await backend.side.send({ type: 'DeleteArticle', articleId: id as ArticleId }, by(as(author.id)));
    expect(await read(`/articles/${id}`, 'author')).toMatchObject({
      status: 404,
      body: { code: 'article_not_found' },
    });
  });
});

describe('comments', () => {
  test('comments of a deleted author stay, without name and text', async ({ backend, ids, idsOf, read }) => {
    const leaving = await backend.person('reader', 'Bob');
    const id = await addComment(backend.side, leaving.id, ids.published as ArticleId);
    await backend.side.send({ type: 'DeleteUser', userId: leaving.id }, by(as(leaving.id)));
    const { body } = await read(`/comments/${id}`, 'admin');
    expect(body).toMatchObject({ author: { id: leaving.id, name: 'Deleted user' }, text: '[deleted]' });
    expect(body._links).not.toHaveProperty('author');
    expect(await idsOf(`/articles/${ids.published}/comments?sort=-createdAt`, 'anonymous')).toEqual([
      id,
      'comment',
    ]);
    await backend.side.send({ type: 'DeleteComment', commentId: id as CommentId }, by(as(1, 'admin')));
    expect((await read(`/comments/${id}`, 'admin')).status).toBe(404);
  });
});

describe('users', () => {
  test.for<[string, string[]]>([
    ['anonymous', []],
    ['reader', ['reader']],
    ['other', ['other']],
    ['author', ['author']],
    ['service', ['author']],
    ['admin', ['reader', 'author', 'other', 'admin']],
  ])('%s sees the names of all, and more of whom they may', async ([name, sees], { askers, read }) => {
    const { body } = await read<Record<string, unknown>[]>('/users?limit=100', name);
    for (const each of ['reader', 'author', 'other', 'admin']) {
      const person = askers[each] as Asker;
      const listed = body.find(({ id }) => id === person.id);
      expect(listed).toMatchObject({ id: person.id, name: each });
      expect('email' in (listed ?? {}) && 'role' in (listed ?? {}) && 'createdAt' in (listed ?? {})).toBe(
        sees.includes(each),
      );
      expect((await read(`/users/${person.id}`, name)).body).toEqual(listed);
    }
  });

  test('a signed-in user reads `/users/me`; an anonymous caller cannot', async ({ askers, read }) => {
    expect(await read('/me', 'other')).toMatchObject({
      status: 200,
      body: { id: askers.other.id, role: 'author', email: null },
    });
    expect(await read('/me', 'other')).toEqual(await read(`/users/${askers.other.id}`, 'other'));
    expect(await read('/me', 'anonymous')).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
  });

  test('a deleted user is gone, and what they published stays', async ({ backend, idsOf, read }) => {
    const leaving = await backend.person('author', 'Carol');
    const article = await draftArticle(backend.side, leaving.id);
    await backend.side.send({ type: 'DeleteUser', userId: leaving.id }, by(as(leaving.id)));
    for (const path of [`/users/${leaving.id}`, `/users/${leaving.id}/articles`])
      expect(await read(path, 'reader')).toMatchObject({ status: 404, body: { code: 'user_not_found' } });
    await until(
      () => backend.ask('/me', { by: leaving }),
      ({ status }) => status === 401,
    );
    expect(JSON.stringify((await read('/users?limit=100', 'admin')).body)).not.toContain(String(leaving.id));
    expect((await read(`/articles/${article}`, 'anonymous')).body).toMatchObject({
      author: { id: leaving.id, name: 'Deleted user' },
    });
    expect(await idsOf(`/articles?author=${leaving.id}`, 'anonymous')).toEqual([article]);
  });
});

test('concurrent reads of items share statements, and each caller gets its own item', async ({
  backend,
  ids,
  read,
}) => {
  const paths = ['published', 'draft', 'withdrawn', 'others'].map((name) => `/articles/${ids[name]}`);
  const names = ['anonymous', 'author', 'other', 'admin'];
  const asked = names.flatMap((name) => paths.map((path) => [path, name] as const));
  const alone: unknown[] = [];
  for (const [path, name] of asked) alone.push(await read(path, name));
  const together = async () => {
    const before = backend.statements();
    expect(await Promise.all(asked.map(([path, name]) => read(path, name)))).toEqual(alone);
    return backend.statements() - before;
  };
  // Statements of background work count too, and on a loaded machine the requests may arrive one by one.
  await until(together, (statements) => statements < asked.length);
});

const READS = Object.values(OPERATIONS).flatMap(({ role, method, path, right }) =>
  role === 'query' && right !== null ? [{ method, path, right }] : [],
);

test.for(READS.filter(({ right }) => admit({ kind: 'anonymous', policy: POLICY }, right) !== 'allowed'))(
  '$method $path without its scope is refused before anything is read',
  async ({ method, path, right }, { askers, backend }) => {
    const scope = scopeOf(POLICY, right);
    const scopes = SCOPES.filter((each) => each !== scope);
    for (const role of ['reader', 'author', 'admin'] as const) {
      const before = backend.statements();
      const { status, body } = await backend.ask(path.replace(/\{\w+\}/, '1'), {
        method,
        by: { ...askers.author, role, scopes },
      });
      expect({ status, body }).toMatchObject({
        status: 403,
        body: { code: 'insufficient_scope', details: { scope } },
      });
      expect(backend.statements()).toBe(before);
    }
  },
);

test('a token without scopes reads only what anonymous callers read', async ({
  askers,
  backend,
  ids,
  read,
}) => {
  askers.bare = { ...askers.admin, scopes: ['read:schema'] };
  const { published, draft, comment, hidden } = ids;
  const items = [
    `/articles/${published}`,
    `/articles/${draft}`,
    `/comments/${comment}`,
    `/comments/${hidden}`,
    `/users/${askers.author.id}`,
  ];
  const lists = [
    '/articles',
    '/users',
    `/articles/${published}/comments`,
    `/articles/${draft}/comments`,
    `/users/${askers.author.id}/articles`,
  ];
  for (const path of [...items, ...lists])
    expect([path, await read(path, 'bare')]).toEqual([path, await read(path, 'anonymous')]);
  const past = `?at=${encodeURIComponent(new Date().toISOString())}`;
  for (const path of [...items, '/articles', '/users']) {
    const [bare, anonymous] = [await read(path + past, 'bare'), await read(path + past, 'anonymous')];
    expect([path, bare]).toEqual([path, anonymous]);
  }
  // An auditor’s token has both scopes.
  askers.follower = { ...(askers.bare as Asker), scopes: ['read:schema', 'read:events'] };
  const departed = await backend.person('reader', 'Dora');
  await backend.side.send({ type: 'DeleteUser', userId: departed.id }, by(as(departed.id)));
  expect((await read(`/users/${departed.id}/history`, 'admin')).status).toBe(200);
  expect((await read(`/users/${departed.id}/history`, 'follower')).status).toBe(404);
});

test('over GraphQL, a token without scopes reads only public data, and no comment leads to a draft', async ({
  askers,
  graphql,
  ids,
}) => {
  const { author } = askers;
  const bare = { ...author, scopes: ['read:schema' as const] };
  const { body } = await graphql(
    `{ post(id: ${ids.published}) { id author { name email } comments { text } } }`,
    bare,
  );
  expect(body.data).toEqual({
    post: {
      id: String(ids.published),
      author: { name: 'author', email: null },
      comments: [{ text: 'Well said.' }],
    },
  });
  expect((await graphql('{ me { id } }', bare)).status).toBe(403);
  const commentsAlone = { ...author, scopes: ['read:comments' as const] };
  expect((await graphql(`{ comment(id: ${ids.hidden}) { id } }`, commentsAlone)).body.data).toEqual({
    comment: { id: String(ids.hidden) },
  });
  for (const ask of [
    `comment(id: ${ids.hidden}) { post { title } }`,
    `node(id: ${ids.hidden}) { ... on Comment { post { title } } }`,
  ])
    expect(JSON.stringify((await graphql(`{ found: ${ask} }`, commentsAlone)).body.data)).toBe(
      '{"found":null}',
    );
});

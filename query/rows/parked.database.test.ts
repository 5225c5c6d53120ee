import { expect } from 'vitest';
import { test as base } from '../../test/engines/backend.ts';
import { addComment, draftArticle } from '../../test/engines/command-side.ts';
import { until } from '../../testing/until.ts';

const test = base
  .extend('articleId', { scope: 'file' }, ({ author, backend }) => draftArticle(backend.side, author.id))
  .extend('commentId', { scope: 'file' }, ({ articleId, backend, reader }) =>
    addComment(backend.side, reader.id, articleId),
  )
  /** Parks an aggregate as the projector does, calls `look`, and restores the row. */
  .extend('whileParked', { scope: 'file' }, ({ backend }) => async (kind: Kind, id: number, look: Look) => {
    const { pool } = backend.side;
    const { rows } = await pool.query(`delete from read_model.${kind}s where id = $1 returning *`, [id]);
    await pool.query(
      `insert into read_model.parked (stream, version, position, type, reason) values ($1, 1, 1, 'test', 'test')`,
      [`${kind}-${id}`],
    );
    await look();
    await pool.query('delete from read_model.parked');
    const { search: _, ...row } = rows[0];
    const columns = Object.keys(row);
    await pool.query(
      `insert into read_model.${kind}s (${columns.join(', ')}) values (${columns.map((_column, index) => `$${index + 1}`).join(', ')})`,
      Object.values(row),
    );
  })
  .extend('expectParked', { scope: 'file' }, ({ backend }) => async (...paths: readonly string[]) => {
    for (const path of paths) {
      const { status, headers, body } = await backend.ask(path);
      expect({ path, status, code: (body as { code: unknown }).code }).toEqual({
        path,
        status: 503,
        code: 'parked',
      });
      expect(headers.get('retry-after')).toBe('60');
    }
  })
  .extend('expectItems', { scope: 'file' }, ({ backend }) => async (path: string, ids: readonly number[]) => {
    const { status, body } = await backend.ask(path);
    expect([path, status]).toEqual([path, 200]);
    expect((body as readonly { id: number }[]).map(({ id }) => id)).toEqual(ids);
  });

test.beforeAll(async ({ backend, commentId: _written }) => {
  await backend.ask('/articles');
  // From here on the test parks aggregates by hand.
  await backend.stopProjector();
});

type Kind = 'article' | 'user' | 'comment';
type Look = () => Promise<void>;

test('a parked article and its comments answer 503, and lists omit it', async ({
  articleId,
  author,
  commentId,
  expectItems,
  expectParked,
  whileParked,
}) => {
  await whileParked('article', articleId, async () => {
    await expectParked(`/articles/${articleId}`, `/articles/${articleId}/comments`, `/comments/${commentId}`);
    await expectItems('/articles', []);
    await expectItems(`/users/${author.id}/articles`, []);
  });
  await expectItems('/articles', [articleId]);
});

test('a parked user and everything that shows their name answer 503, and lists omit both', async ({
  articleId,
  author,
  backend,
  commentId,
  expectItems,
  expectParked,
  reader,
  whileParked,
}) => {
  await whileParked('user', author.id, async () => {
    await expectParked(
      `/users/${author.id}`,
      `/users/${author.id}/articles`,
      `/articles/${articleId}`,
      `/articles/${articleId}/comments`,
    );
    await expectItems('/users', [reader.id]);
    await expectItems('/articles', []);
    expect((await backend.ask('/me', { by: author })).status).toBe(503);
  });
  await whileParked('user', reader.id, async () => {
    await expectParked(`/comments/${commentId}`);
    await expectItems(`/articles/${articleId}/comments`, []);
  });
});

test('a parked comment answers 503, and lists omit it', async ({
  articleId,
  commentId,
  expectItems,
  expectParked,
  whileParked,
}) => {
  await whileParked('comment', commentId, async () => {
    await expectParked(`/comments/${commentId}`);
    await expectItems(`/articles/${articleId}/comments`, []);
  });
  await expectItems(`/articles/${articleId}/comments`, [commentId]);
});

test('an absent item that is not parked answers 404', async ({ backend }) => {
  for (const path of ['/articles/1', '/users/1', '/comments/1'])
    expect((await backend.ask(path)).status).toBe(404);
});

test('an aggregate projected again is the same to the byte, including its tag', async ({
  articleId,
  author,
  backend,
  commentId,
}) => {
  const paths = [
    '/articles',
    '/users',
    `/articles/${articleId}`,
    `/users/${author.id}`,
    `/comments/${commentId}`,
    `/articles/${articleId}/comments`,
  ];
  const tags = async () =>
    Promise.all(paths.map(async (path) => (await backend.ask(path)).headers.get('etag')));
  const before = await tags();
  await backend.side.pool.query(
    `drop schema read_model cascade; delete from public.follower_checkpoint where follower = 'projector'`,
  );
  expect(await backend.ask('/articles')).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  await backend.startProjector();
  await until(tags, (seen) => seen.join() === before.join());
});

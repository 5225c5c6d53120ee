import { describe, expect } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { digestOf } from '#shared/projection/digest.ts';
import { holdNames } from '#shared/projection/schema.ts';
import { addComment, as, by, draftArticle, registerUser } from '../test/engines/command-side.ts';
import { testOnEngines } from '../test/engines/processes.ts';
import { replayed, untilProjected } from '../test/engines/projection.ts';
import type { ArticleId } from '../test/publishing-ids.ts';
import { until } from '../testing/until.ts';

describe.each(testOnEngines)('the projector on %s', (_name, base) => {
  const test = base.extend(
    'rowOf',
    ({ projector: _running, side }) =>
      async (table: string, id: number): Promise<Record<string, unknown> | undefined> => {
        await untilProjected(side);
        return (await side.pool.query(`select * from read_model.${table} where id = $1`, [id])).rows[0];
      },
  );

  test('users, articles and comments match the events', async ({ rowOf, side }) => {
    const author = await registerUser(side, { name: 'Ada', email: 'ada@example.com' });
    const articleId = await draftArticle(side, author, false);
    expect(await rowOf('users', author)).toMatchObject({
      name: 'Ada',
      email: 'ada@example.com',
      role: 'author',
      version: 1,
      deleted_at: null,
    });
    expect(await rowOf('articles', articleId)).toMatchObject({
      title: 'On engines',
      status: 'draft',
      version: 1,
      published_at: null,
    });

    await side.send(
      { type: 'EditArticle', articleId, title: 'Two', tags: ['a', 'b'], cover: 'https://example.com/a.png' },
      by(as(author)),
    );
    await side.send({ type: 'PublishArticle', articleId }, by(as(author)));
    const commentId = await addComment(side, author, articleId);
    await side.send({ type: 'UpdateUser', userId: author, email: null }, by(as(1, 'admin')));
    expect(await rowOf('articles', articleId)).toMatchObject({
      title: 'Two',
      tags: ['a', 'b'],
      cover: 'https://example.com/a.png',
      status: 'published',
      version: 3,
      published_at: expect.any(Date),
    });
    expect(await rowOf('comments', commentId)).toMatchObject({
      article_id: articleId,
      author_id: author,
      text: 'Well said.',
    });
    expect(await rowOf('users', author)).toMatchObject({ name: 'Ada', email: null, version: 2 });
  });

  test('deleted aggregates are gone, and a deleted user’s row remains without personal data', async ({
    rowOf,
    side,
  }) => {
    const [author, reader] = [await registerUser(side), await registerUser(side, { name: 'Bob' })];
    const articleId = await draftArticle(side, author);
    const [kept, removed] = [
      await addComment(side, reader, articleId),
      await addComment(side, reader, articleId),
    ];
    await side.send({ type: 'DeleteComment', commentId: removed }, by(as(reader)));
    await side.send({ type: 'DeleteUser', userId: reader }, by(as(reader)));
    expect(await rowOf('comments', removed)).toBeUndefined();
    expect(await rowOf('comments', kept)).toMatchObject({ text: null, author_id: reader });
    expect(await rowOf('users', reader)).toMatchObject({
      name: null,
      email: null,
      deleted_at: expect.any(Date),
    });
    await side.send({ type: 'DeleteArticle', articleId }, by(as(author)));
    expect(await rowOf('articles', articleId)).toBeUndefined();
    await until(
      async () => rowOf('comments', kept),
      (row) => row === undefined,
    );
  });

  test('a batch of many changes gives the same rows as single changes and as a replay', async ({
    projector,
    side,
  }) => {
    const authors = await Promise.all(Array.from({ length: 5 }, () => registerUser(side)));
    const articles: ArticleId[] = [];
    for (const author of authors)
      for (let n = 0; n < 4; n += 1) articles.push(await draftArticle(side, author, n % 2 === 0));
    await projector.stop();
    await Promise.all(
      articles.map((articleId, n) =>
        side.send({ type: 'EditArticle', articleId, title: `Title ${n}` }, by(as(1, 'admin'))),
      ),
    );
    await Promise.all(
      articles.map((articleId, n) =>
        side.send({ type: n % 3 ? 'PublishArticle' : 'UnpublishArticle', articleId }, by(as(1, 'admin'))),
      ),
    );
    await Promise.all(
      articles
        .slice(0, 5)
        .map((articleId) => side.send({ type: 'DeleteArticle', articleId }, by(as(1, 'admin')))),
    );
    await side.send({ type: 'DeleteUser', userId: authors[0] as UserId }, by(as(1, 'admin')));
    await projector.start();
    await untilProjected(side);
    await until(
      () => side.keys.find(authors),
      (keys) => keys.get(authors[0] as UserId) === 'destroyed',
    );
    await untilProjected(side);
    const live = await digestOf(side.pool, 'read_model');
    expect(await replayed(side)).toEqual(live);
    expect(await replayed(side, 1)).toEqual(live);
  });

  test('nothing is written while the tables are renamed', async ({ rowOf, side }) => {
    const author = await registerUser(side);
    await untilProjected(side);
    const before = await rowOf('users', author);
    const waiting = async () =>
      (
        await side.pool.query(
          `select from pg_stat_activity where query like '%names of the read model%' and wait_event = 'advisory'`,
        )
      ).rowCount;
    await inTransaction(side.pool, async (connection) => {
      await holdNames(connection);
      await side.send({ type: 'UpdateUser', userId: author, name: 'Renamed' }, by(as(author)));
      await until(waiting, (count) => count === 1);
      expect(
        (await side.pool.query('select * from read_model.users where id = $1', [author])).rows[0],
      ).toEqual(before);
    });
    expect(await rowOf('users', author)).toMatchObject({ name: 'Renamed' });
  });

  test('dropped tables are filled again from the whole log', async ({ projector, side }) => {
    await untilProjected(side);
    const before = await digestOf(side.pool, 'read_model');
    await projector.stop();
    await side.pool.query('drop schema read_model cascade');
    await projector.start();
    await untilProjected(side);
    expect(await digestOf(side.pool, 'read_model')).toEqual(before);
  });
});

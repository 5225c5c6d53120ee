import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ArticleId, EventId, StreamName } from '#shared/brands.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { createMetrics } from '#shared/metrics.ts';
import { addComment, as, by, type CommandSide, createCommandWorld, draftArticle, registerUser } from '../test/engines/command-side.ts';
import { until } from '../test/engines/until.ts';
import { project } from './project.ts';
import { createReadModel, startProjector, useReadModel } from './service.ts';

let world: Awaited<ReturnType<typeof createCommandWorld>>;
let side: CommandSide;
let projector: AsyncDisposable;
beforeAll(async () => {
  world = await createCommandWorld();
  side = await world.open();
  projector = await start();
});
afterAll(async () => {
  await projector?.[Symbol.asyncDispose]();
  await side?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const start = () =>
  startProjector({ pool: side.pool, eventLog: side.eventLog, keys: side.keys, log: pino({ level: 'silent' }), metrics: createMetrics() });

const caughtUp = async () => {
  const head = await side.eventLog.head();
  const position = async () => {
    const { rows } = await side.pool.query<{ position: number }>(`select position from follower_checkpoint where follower = 'projector'`);
    return rows[0]?.position ?? 0;
  };
  await until(position, (reached) => reached >= head);
};

const rowOf = async (table: string, id: number): Promise<Record<string, unknown> | undefined> => {
  await caughtUp();
  return (await side.pool.query(`select * from read_model.${table} where id = $1`, [id])).rows[0];
};

test('users, articles and comments are there as the events say', async () => {
  const author = await registerUser(side, { name: 'Ada', email: 'ada@example.com' });
  const articleId = await draftArticle(side, author, false);
  expect(await rowOf('users', author)).toMatchObject({
    name: 'Ada',
    email: 'ada@example.com',
    role: 'author',
    version: 1,
    deleted_at: null,
  });
  expect(await rowOf('articles', articleId)).toMatchObject({ title: 'On engines', status: 'draft', version: 1, published_at: null });

  await side.send({ type: 'EditArticle', articleId, title: 'Two', tags: ['a', 'b'], cover: 'https://example.com/a.png' }, by(as(author)));
  await side.send({ type: 'PublishArticle', articleId }, by(as(author)));
  const commentId = await addComment(side, author, articleId);
  await side.send({ type: 'UpdateUser', userId: author, email: null }, by(as(author)));
  expect(await rowOf('articles', articleId)).toMatchObject({
    title: 'Two',
    tags: ['a', 'b'],
    cover: 'https://example.com/a.png',
    status: 'published',
    version: 3,
    published_at: expect.any(Date),
  });
  expect(await rowOf('comments', commentId)).toMatchObject({ article_id: articleId, author_id: author, text: 'Well said.' });
  expect(await rowOf('users', author)).toMatchObject({ name: 'Ada', email: null, version: 2 });
});

test('deleted things are gone, and a deleted user stays without the person and what they wrote', async () => {
  const [author, reader] = [await registerUser(side), await registerUser(side, { name: 'Bob' })];
  const articleId = await draftArticle(side, author);
  const [kept, removed] = [await addComment(side, reader, articleId), await addComment(side, reader, articleId)];
  await side.send({ type: 'DeleteComment', commentId: removed }, by(as(reader)));
  await side.send({ type: 'DeleteUser', userId: reader }, by(as(reader)));
  expect(await rowOf('comments', removed)).toBeUndefined();
  expect(await rowOf('comments', kept)).toMatchObject({ text: null, author_id: reader });
  expect(await rowOf('users', reader)).toMatchObject({ name: null, email: null, deleted_at: expect.any(Date) });
  await side.send({ type: 'DeleteArticle', articleId }, by(as(author)));
  expect(await rowOf('articles', articleId)).toBeUndefined();
  await until(
    async () => rowOf('comments', kept),
    (row) => row === undefined,
  );
});

test('many changes in one batch come to what each by itself would, and to what a fresh replay comes to', async () => {
  const authors = await Promise.all(Array.from({ length: 5 }, () => registerUser(side)));
  const articles: ArticleId[] = [];
  for (const author of authors) for (let n = 0; n < 4; n += 1) articles.push(await draftArticle(side, author, n % 2 === 0));
  await projector[Symbol.asyncDispose]();
  await Promise.all(articles.map((articleId, n) => side.send({ type: 'EditArticle', articleId, title: `Title ${n}` }, by(as(1, 'admin')))));
  await Promise.all(
    articles.map((articleId, n) => side.send({ type: n % 3 ? 'PublishArticle' : 'UnpublishArticle', articleId }, by(as(1, 'admin')))),
  );
  await Promise.all(articles.slice(0, 5).map((articleId) => side.send({ type: 'DeleteArticle', articleId }, by(as(1, 'admin')))));
  await side.send({ type: 'DeleteUser', userId: authors[0] as never }, by(as(1, 'admin')));
  projector = await start();
  await caughtUp();
  await until(
    () => side.keys.find(authors),
    (keys) => keys.get(authors[0] as never) === 'destroyed',
  );
  await caughtUp();
  expect(await digestOf('read_model')).toEqual(await replayed(1_000));
  expect(await digestOf('read_model')).toEqual(await replayed(1));
});

test.each([
  ['cannot be read', { articleId: 'x' }],
  ['the database refuses', { articleId: 4_000, authorId: 1, title: 'T', body: '', tags: [], cover: null }],
])('an event that %s parks its aggregate alone, and the rest goes on', async (why, data) => {
  const stream = (why === 'cannot be read' ? 'article-3999' : 'article-4000') as StreamName;
  const author = await registerUser(side);
  if (why !== 'cannot be read') await side.pool.query('alter table read_model.articles add constraint no_4000 check (id <> 4000)');
  const metadata = {
    version: 1,
    at: new Date().toISOString(),
    actor: 'system:test',
    client: null,
    request: 'r',
    $correlationId: 'c',
    $causationId: null,
  };
  await side.eventLog.append(stream, NO_STREAM, [{ id: crypto.randomUUID() as EventId, type: 'article.drafted', data, metadata }]);
  const articleId = await draftArticle(side, author);
  expect(await rowOf('articles', articleId)).toMatchObject({ version: 2 });
  const { rows } = await side.pool.query('select stream, version from read_model.parked where stream = $1', [stream]);
  expect(rows).toEqual([{ stream, version: 1 }]);
});

const TABLES = ['users', 'articles', 'comments'];

/** What the rows of a read model say, whatever order they were written in. */
const digestOf = async (schema: string): Promise<readonly unknown[]> =>
  Promise.all(
    TABLES.map(async (table) => {
      const { rows } = await side.pool.query(
        `select count(*) as rows, md5(string_agg(t::text, '|' order by id)) as digest from ${schema}.${table} t`,
      );
      return rows[0];
    }),
  );

let replays = 0;

/** The whole log into a read model of its own, in batches of a size. */
const replayed = async (batch: number): Promise<readonly unknown[]> => {
  replays += 1;
  const schema = `replay_${replays}`;
  await createReadModel(side.pool, schema);
  const head = await side.eventLog.head();
  for await (const page of side.eventLog.follow(START, new AbortController().signal)) {
    for (let from = 0; from < page.length; from += batch) {
      await inTransaction(side.pool, async (connection) => {
        await useReadModel(connection, schema);
        await project(connection, side.codec, page.slice(from, from + batch));
      });
    }
    if ((page.at(-1)?.position ?? 0) >= head) break;
  }
  return digestOf(schema);
};

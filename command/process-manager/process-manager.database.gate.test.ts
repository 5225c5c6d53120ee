import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import {
  addComment,
  allEvents,
  as,
  by,
  type CommandSide,
  createCommandDatabase,
  draftArticle,
  registerUser,
} from '../../test/engines/command-side.ts';
import type { CommentId } from '../../test/publishing-ids.ts';
import { until } from '../../testing/until.ts';

let database: Awaited<ReturnType<typeof createCommandDatabase>>;
let side: CommandSide;
beforeAll(async () => {
  database = await createCommandDatabase();
  side = await database.open();
});
afterAll(async () => {
  await side?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

const eventsOf = async (
  type: DecodedEvent['type'],
  streams: readonly string[],
): Promise<readonly DecodedEvent[]> =>
  (await allEvents(side)).filter((event) => event.type === type && streams.includes(event.stream));

const commentStreams = (ids: readonly CommentId[]) => ids.map((id) => `comment-${id}`);

test('the comments of a deleted article are deleted once each, with that deletion as cause', async () => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  const comments = await Promise.all(Array.from({ length: 150 }, () => addComment(side, author, articleId)));
  await side.send({ type: 'DeleteArticle', articleId }, { ...by(as(author)), correlationId: 'cascade' });
  const deleted = await until(
    () => eventsOf('comment.deleted', commentStreams(comments)),
    (events) => events.length === comments.length,
  );
  const [cause] = await eventsOf('article.deleted', [`article-${articleId}`]);
  for (const { metadata } of deleted) {
    expect(metadata).toMatchObject({
      actor: 'system:process-manager',
      causation: cause?.id,
      correlation: 'cascade',
    });
  }
});

test('a comment that is stored after the deletion of its article is deleted as well', async () => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: goOn, resolve: letGo } = Promise.withResolvers<void>();
  await using slow = await database.open({
    wrapLog: (log) => ({
      ...log,
      async append(stream, expected, events) {
        if (stream.startsWith('comment-')) {
          reach();
          await goOn;
        }
        return log.append(stream, expected, events);
      },
    }),
  });
  const late = addComment(slow, author, articleId);
  await reached;
  await side.send({ type: 'DeleteArticle', articleId }, by(as(author)));
  letGo();
  const commentId = await late;
  await until(
    () => eventsOf('comment.deleted', commentStreams([commentId])),
    (events) => events.length === 1,
  );
});

test('an article of a deleted user that is unpublished later is deleted then', async () => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  await side.send({ type: 'DeleteUser', userId: author }, by(as(author)));
  await until(
    () => side.keys.find([author]),
    (keys) => keys.get(author) === 'destroyed',
  );
  expect(await eventsOf('article.deleted', [`article-${articleId}`])).toEqual([]);
  await side.send({ type: 'UnpublishArticle', articleId }, by(as(1, 'admin')));
  await until(
    () => eventsOf('article.deleted', [`article-${articleId}`]),
    (events) => events.length === 1,
  );
});

test('a lost key and a damaged event delay nothing after them', async () => {
  await using damaged = await createCommandDatabase();
  await using first = await damaged.open();
  const [author, reader] = [await registerUser(first), await registerUser(first)];
  const articleId = await draftArticle(first, author);
  const commentId = await addComment(first, reader, articleId);
  await first.pool.query('delete from public.person_key where subject = $1', [reader]);
  await first.eventLog.append('comment-99' as StreamName, NO_STREAM, [
    { id: crypto.randomUUID() as EventId, type: 'comment.added', data: { articleId: 'x' }, metadata: {} },
  ]);
  await first.send({ type: 'DeleteArticle', articleId }, by(as(author)));
  await until(
    () => Array.fromAsync(first.eventLog.read(`comment-${commentId}` as StreamName)),
    (pages) => pages.flat().length === 2,
  );
});

test('a process that is stopped during a long deletion stops at once, and the next one resumes', async () => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  const comments = await Promise.all(Array.from({ length: 600 }, () => addComment(side, author, articleId)));
  await side.send({ type: 'DeleteArticle', articleId }, by(as(author)));
  await until(
    () => eventsOf('comment.deleted', commentStreams(comments)),
    (events) => events.length > 0,
  );
  await side[Symbol.asyncDispose]();
  side = await database.open();
  await until(
    () => eventsOf('comment.deleted', commentStreams(comments)),
    (events) => events.length === comments.length,
  );
});

test('a deleted user loses drafts and key, and published articles remain', async () => {
  const author = await registerUser(side, { name: 'Erasmus', email: 'erasmus@example.com' });
  const [draft, published] = [await draftArticle(side, author, false), await draftArticle(side, author)];
  const commentId = await addComment(side, author, published);
  await side.send({ type: 'DeleteUser', userId: author }, by(as(author)));
  await until(
    () => eventsOf('article.deleted', [`article-${draft}`]),
    (events) => events.length === 1,
  );
  await until(
    () => side.keys.find([author]),
    (keys) => keys.get(author) === 'destroyed',
  );
  expect(await eventsOf('article.deleted', [`article-${published}`])).toEqual([]);
  const [registered] = await eventsOf('user.registered', [`user-${author}`]);
  const [comment] = await eventsOf('comment.added', [`comment-${commentId}`]);
  expect(registered?.data).toMatchObject({ name: null, email: null });
  expect(comment?.data).toMatchObject({ text: null });
});

test('a consequence runs once, whichever of two processes has the lease, and after one of them ends', async () => {
  const author = await registerUser(side);
  const articles = await Promise.all(Array.from({ length: 20 }, () => draftArticle(side, author)));
  const comments = await Promise.all(articles.map((articleId) => addComment(side, author, articleId)));
  const first = await database.open();
  await using _second = await database.open();
  const deletions = articles.map(async (articleId, n) => {
    if (n === 10) await first[Symbol.asyncDispose]();
    await side.send({ type: 'DeleteArticle', articleId }, by(as(author)));
  });
  await Promise.all(deletions);
  const deleted = await until(
    () => eventsOf('comment.deleted', commentStreams(comments)),
    (events) => events.length >= comments.length,
  );
  expect(new Set(deleted.map(({ stream }) => stream)).size).toBe(comments.length);
  expect(deleted).toHaveLength(comments.length);
});

test.each([
  [
    'of another log',
    `update public.follower_checkpoint set log = gen_random_uuid()`,
    /has followed the event log/,
  ],
  [
    'beyond the end of the log',
    'update public.follower_checkpoint set position = 1000000',
    /beyond the end of the event log/,
  ],
])('a process whose checkpoint is %s refuses to start', async (_what, damage, sentence) => {
  await using damaged = await createCommandDatabase();
  {
    await using first = await damaged.open();
    await registerUser(first);
    await until(
      () => first.pool.query(`select from public.follower_checkpoint where follower = 'process-manager'`),
      ({ rowCount }) => rowCount === 1,
    );
    await first.pool.query(damage);
  }
  await expect(damaged.open()).rejects.toThrow(sentence);
});

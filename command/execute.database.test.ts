// Over 200 lines, because all cases decide on the articles of the command side that is set up here.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Version } from '#kernel/base/brands.ts';
import { parseCursor } from '#kernel/base/cursor.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { START } from '#shared/event-log/event-log.ts';
import {
  addComment,
  allEvents,
  as,
  by,
  type CommandSide,
  createCommandDatabase,
  draftArticle,
  registerUser,
} from '../test/engines/command-side.ts';
import { cutLog } from '../test/engines/cut-log.ts';
import { test } from '../test/engines/processes.ts';
import { createExecutor } from './execute.ts';
import { seededIds } from './handling/execution-context.ts';
import { createStates } from './states.ts';

test('a command returns the id, the version, and a cursor of the log', async ({ side }) => {
  const author = await registerUser(side);
  const answer = await side.send(
    { type: 'DraftArticle', title: 'On engines', body: '', tags: [], cover: null, publish: true },
    by(as(author)),
  );
  expect(answer).toMatchObject({ version: 2 });
  const last = (await allEvents(side)).findLast(({ stream }) => stream === `article-${answer.id}`);
  expect(parseCursor(side.eventLog.identity, answer.cursor)).toBe(last?.position);
});

test('every event records actor, time, request and client', async ({ side }) => {
  const author = await registerUser(side);
  const context = { ...by(as(author)), requestId: 'request-7', correlationId: 'correlation-7' };
  const { id } = await side.send(
    { type: 'DraftArticle', title: 'T', body: '', tags: [], cover: null, publish: false },
    context,
  );
  const event = (await allEvents(side)).find(({ stream }) => stream === `article-${id}`);
  expect(event?.metadata).toEqual({
    version: 1,
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    actor: `user:${author}`,
    client: 'test-client',
    request: 'request-7',
    correlation: 'correlation-7',
    causation: null,
  });
});

test('a no-op returns the position of the last change', async ({ side }) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  const changed = await side.send({ type: 'EditArticle', articleId, title: 'Two' }, by(as(author)));
  const again = await side.send({ type: 'EditArticle', articleId, title: 'Two' }, by(as(author)));
  expect(again).toEqual(changed);
});

test('a process decides on changes by another process', async ({ other, side }) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  await other.send({ type: 'EditArticle', articleId, title: 'Seen by two' }, by(as(author)));
  await side.send({ type: 'DeleteArticle', articleId }, by(as(author)));
  await expect(
    other.send({ type: 'EditArticle', articleId, title: 'Late' }, by(as(author))),
  ).rejects.toMatchObject({
    code: 'article_deleted',
  });
});

test('refusals and no-ops are decided on the newest state', async ({ other, side }) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author, false);
  await side.send({ type: 'EditArticle', articleId, title: 'Remembered by one' }, by(as(author)));
  await other.send({ type: 'PublishArticle', articleId }, by(as(author)));
  await other.send({ type: 'EditArticle', articleId, title: 'Changed by two' }, by(as(author)));
  const edited = await side.send(
    { type: 'EditArticle', articleId, title: 'Remembered by one' },
    by(as(author)),
  );
  expect(edited.version).toBe(5);
});

test('concurrent edits from two processes are all applied, one after the other', async ({ other, side }) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  const edits = Array.from({ length: 8 }, (_, n) =>
    (n % 2 ? side : other).send({ type: 'EditArticle', articleId, title: `Title ${n}` }, by(as(author))),
  );
  const versions = (await Promise.all(edits)).map(({ version }) => version).toSorted((a, b) => a - b);
  expect(versions).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
});

test('many concurrent edits of one article in one process queue instead of failing', async ({ side }) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  const edits = Array.from({ length: 256 }, (_, n) =>
    side.send({ type: 'EditArticle', articleId, title: `Title ${n}` }, by(as(author))),
  );
  expect(new Set((await Promise.all(edits)).map(({ version }) => version)).size).toBe(256);
});

test('a comment is refused if another process has unpublished or deleted the article', async ({
  other,
  side,
}) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  await addComment(other, author, articleId);
  await side.send({ type: 'UnpublishArticle', articleId }, by(as(author)));
  await expect(addComment(other, author, articleId)).rejects.toMatchObject({ code: 'article_not_published' });
  await side.send({ type: 'DeleteArticle', articleId }, by(as(author)));
  await expect(addComment(other, author, articleId)).rejects.toMatchObject({ code: 'article_deleted' });
});

test('a caller with an expected version loses against an earlier writer', async ({ other, side }) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  const edits = ['A', 'B', 'C'].map((title, n) =>
    (n % 2 ? side : other).send({ type: 'EditArticle', articleId, title }, by(as(author), { ifVersion: 2 })),
  );
  const outcomes = await Promise.allSettled(edits);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected')
      expect(outcome.reason).toMatchObject({ code: 'version_mismatch', details: { version: 3 } });
  }
});

test('a process forgets cached events that the log has lost', async () => {
  await using lossy = await createCommandDatabase();
  await using zero = await lossy.open();
  await using other = await lossy.open();
  const author = await registerUser(zero);
  const articleId = await draftArticle(zero, author);
  const edit = (on: CommandSide, change: { title?: string; body?: string }) =>
    on.send({ type: 'EditArticle', articleId, ...change }, by(as(author)));
  const keptUpTo = await zero.eventLog.head();
  await edit(zero, { body: 'LOST' });
  await cutLog(zero.pool, keptUpTo);
  await edit(other, { title: 'Two' });
  await edit(other, { title: 'Three' });
  const repeated = await edit(zero, { body: 'LOST' });
  const last = (await allEvents(zero)).findLast(({ stream }) => stream === `article-${articleId}`);
  expect(last).toMatchObject({ data: { body: 'LOST' }, version: repeated.version });
  expect(parseCursor(zero.eventLog.identity, repeated.cursor)).toBe(last?.position);
});

test('a taken id is replaced by the next one', async ({ database, side }) => {
  const author = await registerUser(side);
  const taken: string[] = [];
  await using third = await database.open({
    wrapLog: (log) => ({
      ...log,
      async append(stream, expected, events) {
        // Another writer takes the first two ids.
        if (stream.startsWith('article-') && taken.length < 2) {
          taken.push(stream);
          await log.append(
            stream,
            expected,
            events.map((event) => ({ ...event, id: crypto.randomUUID() as typeof event.id })),
          );
        }
        return log.append(stream, expected, events);
      },
    }),
  });
  const articleId = await draftArticle(third, author);
  expect(taken).toHaveLength(2);
  expect(taken).not.toContain(`article-${articleId}`);
});

test('a repeated command finds all of its events with one read', async ({ side }) => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  const stream = streamName('article', articleId);
  const ids = seededIds({ eventSeed: randomUUID(), firstId: 1 });
  const metadata = { ...CONTEXT, actor: `user:${author}` as const };
  const events = Array.from({ length: 9 }, (_, ordinal) => ({
    id: ids.event(ordinal),
    event: { type: 'article.edited', data: { articleId, authorId: author, title: `${ordinal}` } } as never,
  }));
  const { position } = await side.eventLog.append(
    stream,
    2 as Version,
    await side.codec.encodeAll(stream, metadata, events),
  );
  let reads = 0;
  const log: typeof side.eventLog = {
    ...side.eventLog,
    read(...asked) {
      reads += 1;
      return side.eventLog.read(...asked);
    },
  };
  const decider = deciderOf(side.domain, side.domain.kinds.article as Kind);
  const states = createStates({ log: side.eventLog, codec: side.codec });
  const again = await createExecutor({ log, codec: side.codec, states }).change(
    { decider: decider as never, stream, decide: () => expect.fail('it was decided before') },
    {
      metadata,
      ids,
      ifVersion: undefined,
      unlessVersion: undefined,
      mayBeRepeatAfter: START,
    },
  );
  expect(again).toEqual({ version: 11, position });
  expect(reads).toBe(1);
});

const CONTEXT = {
  client: null,
  request: 'test',
  correlation: 'test',
  causation: null,
  at: new Date().toISOString(),
};

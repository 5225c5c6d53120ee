import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventId, Position, StreamName, UserId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Caller } from '#shared/policy.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import { context } from '../../test/codec-fixture.ts';
import { type ChangeReading, openChangeReading } from '../../test/engines/change-reading.ts';
import { as } from '../../test/engines/command-side.ts';
import { POLICY } from '../../test/engines/policy.ts';
import type { ArticleId, CommentId } from '../../test/publishing-ids.ts';

let reading: ChangeReading;
beforeAll(async () => {
  reading = await openChangeReading();
});
afterAll(() => reading?.[Symbol.asyncDispose]());

const author = 1 as UserId;
const reader = 2 as UserId;
const EVERYBODY: readonly Caller[] = [
  { kind: 'anonymous', policy: POLICY },
  as(author),
  as(reader, 'reader'),
  as(3, 'admin'),
];
const ADMINISTRATOR_ALONE = [false, false, false, true];

let lastId = 0;
const nextId = () => (lastId += 1);

const publish = async () => {
  const articleId = nextId() as ArticleId;
  const mark = { articleId, authorId: author };
  const stream = streamName('article', articleId);
  const drafted: AnnalsEvent = {
    type: 'article.drafted',
    data: { ...mark, title: 'On engines', body: '', tags: [], cover: null },
  };
  await reading.record(stream, drafted, { type: 'article.published', data: mark });
  return { articleId, stream, mark };
};

const comment = (articleId: ArticleId): Promise<Position> => {
  const commentId = nextId() as CommentId;
  const data = { commentId, articleId, authorId: reader, text: 'Splendid.' };
  return reading.record(streamName('comment', commentId), { type: 'comment.added', data });
};

/** Appends an event directly, without the command side. */
const recordRaw = async (stream: StreamName, type: string, data: JsonObject): Promise<Position> => {
  const { correlation, causation, ...rest } = context;
  const metadata = { ...rest, version: 1, $correlationId: correlation, $causationId: causation };
  return (
    await reading.eventLog.append(stream, 'any', [{ id: randomUUID() as EventId, type, data, metadata }])
  ).position;
};

const before = (position: Position) => (position - 1) as Position;

test('an unknown article is read once for all its events of a page, and not again for later ones', async () => {
  const [one, other] = [await publish(), await publish()];
  const start = await reading.eventLog.head();
  const middle = await Promise.all([one, one, other].map(({ articleId }) => comment(articleId)));
  await reading.record(one.stream, { type: 'article.edited', data: { ...one.mark, title: 'Two' } });
  const first = await reading.events(start, await reading.eventLog.head());
  const { reader: changes, reads } = reading.createReader();
  const { changes: told } = await changes.toPage(first);
  expect(told.map(({ resource }) => resource.articleStatus)).toEqual(
    middle.map(() => 'published').concat('published'),
  );
  expect(reads.toSorted()).toEqual([one.stream, other.stream].toSorted());
  await reading.record(one.stream, { type: 'article.unpublished', data: one.mark });
  const end = await comment(one.articleId);
  const { changes: later } = await changes.toPage(await reading.events(first.at(-1)?.position ?? start, end));
  expect(later.map(({ resource }) => resource.articleStatus)).toEqual(['published', 'draft']);
  expect(reads).toHaveLength(2);
});

test('concurrent requests for one article share one read', async () => {
  const { articleId, stream } = await publish();
  const position = await comment(articleId);
  const page = await reading.events(before(position), position);
  const { reader: changes, reads } = reading.createReader();
  const pages = await Promise.all(Array.from({ length: 20 }, () => changes.toPage(page)));
  expect(pages.every(({ changes: [change] }) => change?.resource.articleAuthorId === author)).toBe(true);
  expect(reads).toEqual([stream]);
});

test('following an article from its first event needs no read at all', async () => {
  const start = await reading.eventLog.head();
  const { articleId } = await publish();
  const page = await reading.events(start, await comment(articleId));
  const { reader: changes, reads } = reading.createReader();
  const { changes: told } = await changes.toPage(page);
  expect(told.at(-1)?.resource).toEqual({
    ownerId: reader,
    articleAuthorId: author,
    articleStatus: 'published',
  });
  expect(reads).toEqual([]);
});

test.each([
  [
    'an event that is not what its definition says',
    'user-77',
    'user.registered',
    { userId: 77, role: 'king' },
  ],
  ['one on another stream than it is about', 'user-78', 'user.deleted', { userId: 79 }],
  ['a damaged one of an article', 'article-990001', 'article.published', { articleId: 'x' }],
  ['a damaged one of a comment', 'comment-990002', 'comment.deleted', {}],
  ['one of an unknown type in an aggregate', 'article-990003', 'article.set_to_music', { secret: 'Notes' }],
  ['one whose row was damaged to null', 'article-990004', 'article.published', null as never],
  ['one whose row was damaged to a list', 'article-990005', 'article.published', ['Notes'] as never],
])(
  'of %s administrators are told that it is there, and nobody is told what it says',
  async (_what, stream, type, data) => {
    const position = await recordRaw(stream as StreamName, type, data);
    const { changes } = await reading
      .createReader()
      .reader.toPage(await reading.events(before(position), position));
    expect(changes).toMatchObject([{ position, type, stream, data: {}, resource: {}, isParked: true }]);
    expect(EVERYBODY.map((caller) => changes[0] && maySee(caller, changes[0]))).toEqual(ADMINISTRATOR_ALONE);
  },
);

test('an unknown type outside the aggregates may be internal, and is skipped', async () => {
  const position = await recordRaw('command-x' as StreamName, 'command.pondered', {});
  const page = await reading.createReader().reader.toPage(await reading.events(before(position), position));
  expect(page).toEqual({ changes: [], upTo: position, event: expect.any(String) });
});

test('an update that cannot be opened is visible only to its user, and does not hold back the rest of its page', async () => {
  const start = await reading.eventLog.head();
  await recordRaw('user-81' as StreamName, 'user.updated', {
    userId: 81,
    personal: { subject: 81, sealed: '1.broken' },
  });
  const end = await reading.record('user-82' as StreamName, {
    type: 'user.updated',
    data: { userId: 82 as UserId, name: 'Grace' },
  });
  const { changes } = await reading.createReader().reader.toPage(await reading.events(start, end));
  expect(changes.map(({ right }) => right)).toEqual(['user.read_private', 'user.read']);
});

test('a parked aggregate is marked from the event on that parked it', async () => {
  const start = await reading.eventLog.head();
  const { stream, mark } = await publish();
  const end = await reading.record(stream, { type: 'article.edited', data: { ...mark, title: 'Two' } });
  await reading.pool.query(
    'insert into read_model.parked (stream, version, position, type, reason) values ($1, 2, $2, $3, $4)',
    [...[stream, end - 1, 'article.published', 'For the test']],
  );
  const { changes } = await reading.createReader().reader.toPage(await reading.events(start, end));
  expect(changes.map(({ isParked }) => isParked)).toEqual([false, true, true]);
});

test('security events are visible to the user they affect and to administrators', async () => {
  const start = await reading.eventLog.head();
  await reading.record('session-s' as StreamName, {
    type: 'session.signed_in',
    data: { sessionId: 's', userId: author, method: 'password' },
  });
  await reading.record('grant-g' as StreamName, {
    type: 'grant.revoked',
    data: { grantId: 'g', userId: null, clientId: null },
  });
  const end = await reading.record('client-c' as StreamName, {
    type: 'client.deleted',
    data: { clientId: 'c' },
  });
  const { changes } = await reading.createReader().reader.toPage(await reading.events(start, end));
  const known = changes.map((change) => EVERYBODY.map((caller) => maySee(caller, change)));
  expect(known).toEqual([[false, true, false, true], ADMINISTRATOR_ALONE, ADMINISTRATOR_ALONE]);
});

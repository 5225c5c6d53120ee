import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventId, StreamName, UserId } from '#kernel/base/brands.ts';
import { FIRST, NO_STREAM } from '#shared/event-log/event-log.ts';
import { callAt } from '../../test/engines/call-line.ts';
import {
  addComment,
  as,
  by,
  type CommandDatabase,
  type CommandSide,
  createCommandDatabase,
  draftArticle,
  registerUser,
} from '../../test/engines/command-side.ts';
import { until } from '../../testing/until.ts';

let database: CommandDatabase;
let side: CommandSide;
beforeAll(async () => {
  database = await createCommandDatabase();
  side = await database.open();
});
afterAll(async () => {
  await side?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

/** Restarts the process, so that nothing is cached. */
const restart = async (): Promise<void> => {
  await side[Symbol.asyncDispose]();
  side = await database.open();
};
const typesOf = async (stream: string) =>
  (await Array.fromAsync(side.eventLog.read(stream as StreamName))).flat().map(({ type }) => type);
const untilErased = (userId: UserId) =>
  until(
    () => side.keys.find([userId]),
    (keys) => keys.get(userId) === 'destroyed',
  );
const erase = async (userId: UserId): Promise<void> => {
  await side.send({ type: 'DeleteUser', userId }, by(as(userId)));
  await untilErased(userId);
};

test('a comment whose author’s key is lost is deleted with its article, and delays no erasure', async () => {
  const [author, reader, unrelated] = [
    await registerUser(side),
    await registerUser(side),
    await registerUser(side),
  ];
  const articleId = await draftArticle(side, author);
  const commentId = await addComment(side, reader, articleId);
  await side.pool.query('delete from public.person_key where subject = $1', [reader]);
  await restart();
  await side.send({ type: 'DeleteArticle', articleId }, by(as(author)));
  await erase(unrelated);
  expect(await typesOf(`comment-${commentId}`)).toEqual(['comment.added', 'comment.deleted']);
});

/** A comment without any event that has all ids, so that its end cannot be recorded. */
const unendable = async (articleId: number, commentId: number): Promise<void> => {
  await side.eventLog.append(`comment-${commentId}` as StreamName, NO_STREAM, [
    added({ articleId, commentId }),
  ]);
};
const added = (data: Record<string, number>) => ({
  id: crypto.randomUUID() as EventId,
  type: 'comment.added',
  data,
  metadata: METADATA,
});
const METADATA = {
  version: 1,
  at: '2026-01-02T03:04:05.678Z',
  actor: 'system:test',
  client: null,
  request: 'r',
  $correlationId: 'r',
  $causationId: null,
};

const annals = (...args: readonly string[]) =>
  callAt({ environment: database.settings }, ['process-manager', ...args]);
const untilParked = (count: number) =>
  until(
    () => annals('parked', '--json'),
    ({ output }) => output.split('\n').filter(Boolean).length === count,
  );

/** The metrics without their descriptions. */
const shownMetrics = async () => (await side.metrics.metrics()).replace(/^#.*\n|^\n/gm, '');

test('a child that cannot be ended is parked, delays nothing, and ends after its cause is removed', async () => {
  const [author, unrelated] = [await registerUser(side), await registerUser(side)];
  const articleId = await draftArticle(side, author);
  await unendable(articleId, 4_001);
  await side.send({ type: 'DeleteArticle', articleId }, by(as(author)));
  await erase(unrelated);
  await untilParked(1);
  expect(await annals('parked')).toMatchObject({
    exit: 0,
    output: expect.stringMatching(/end +comment-4001 .*has all of its ids/),
  });
  // Not due for a retry in the meantime.
  await side.pool.query(
    `update process_manager.parked set parked_at = parked_at - interval '1 hour', next_at = clock_timestamp() + interval '4 minutes'`,
  );
  expect(await shownMetrics()).toMatch(
    /^annals_process_manager_parked 1\nannals_process_manager_parked_oldest_seconds 36\d\d\b/m,
  );
  await side.eventLog.append('comment-4001' as StreamName, FIRST, [
    added({ articleId, commentId: 4_001, authorId: unrelated }),
  ]);
  expect(await annals('retry', 'comment-4001')).toMatchObject({ exit: 0 });
  await untilParked(0);
  expect(await shownMetrics()).toMatch(
    /^annals_process_manager_parked 0\nannals_process_manager_parked_oldest_seconds 0$/m,
  );
  expect(await typesOf('comment-4001')).toEqual(['comment.added', 'comment.added', 'comment.deleted']);
});

test('operators can skip an end that is impossible, but not an erasure', async () => {
  const author = await registerUser(side);
  const articleId = await draftArticle(side, author);
  await unendable(articleId, 4_002);
  await side.send({ type: 'DeleteArticle', articleId }, by(as(author)));
  await untilParked(1);
  expect(await annals('skip', 'comment-4002')).toMatchObject({ exit: 0 });
  expect((await annals('parked')).output).toContain('skipped');
  const reader = await registerUser(side);
  await side.pool.query(`insert into process_manager.parked (task, stream, cause_id, cause_metadata, reason, next_at)
    values ('erase', 'user-${reader}', gen_random_uuid(), '{}', 'never', now() + interval '1 minute')`);
  expect(await annals('skip', `user-${reader}`)).toMatchObject({ exit: 1 });
  expect(await annals('retry', `user-${reader}`)).toMatchObject({ exit: 0 });
  await untilErased(reader);
  expect(await annals('retry', 'comment-1')).toMatchObject({
    exit: 1,
    complaint: 'Nothing of comment-1 is parked.',
  });
});

test('an erasure that a read model refuses is parked, its key is destroyed, and other erasures continue', async () => {
  const [refused, other] = [await registerUser(side), await registerUser(side)];
  await side.pool.query(`create schema refusing;
    create table refusing.users (id bigint, name text, seal text, version integer, created_at timestamptz, updated_at timestamptz);
    insert into refusing.users (id, name) values (${refused}, 'Ada');
    create function refusing.refuse() returns trigger language plpgsql as $$ begin raise 'never'; end $$;
    create trigger refuse before update on refusing.users for each row execute function refusing.refuse()`);
  await erase(refused);
  await erase(other);
  const { output } = await until(
    () => annals('parked'),
    ({ output: shown }) => shown.includes(`user-${refused}`),
  );
  expect(output).toContain('Personal data is left in refusing.users.');
  await restart();
  await side.pool.query('drop trigger refuse on refusing.users');
  await annals('retry', `user-${refused}`);
  await until(
    () => side.pool.query('select from refusing.users where name is not null'),
    ({ rowCount }) => rowCount === 0,
  );
});

test('a deletion takes effect even if its event is damaged', async () => {
  const userId = await registerUser(side);
  const deletion = {
    id: crypto.randomUUID() as EventId,
    type: 'user.deleted',
    data: { userId: 'x' },
    metadata: {},
  };
  await side.eventLog.append(`user-${userId}` as StreamName, FIRST, [deletion]);
  await untilErased(userId);
});

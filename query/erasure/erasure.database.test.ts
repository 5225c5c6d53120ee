import { afterAll, beforeAll, expect, test } from 'vitest';
import { reportErasure } from '#shared/erasure/report.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import { type Asker, type Backend, openBackend } from '../../test/engines/backend.ts';
import { addComment, as, by, draftArticle } from '../../test/engines/command-side.ts';
import { smallPages } from '../../test/engines/small-pages.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { erasureReads } from './reads.ts';

let world: Backend;
let admin: Asker;
let gone: Asker;
beforeAll(async () => {
  world = await openBackend();
  admin = await world.person('admin');
  gone = await world.person('author', 'Erasmus');
  const articleId = await draftArticle(world.side, gone.id);
  await draftArticle(world.side, gone.id, false);
  await addComment(world.side, gone.id, articleId);
});
afterAll(() => world?.[Symbol.asyncDispose]());

const ask = (by: Asker | null, user: Asker) => world.ask(`/users/${user.id}/erasure`, { by });

test('404 for a user who was not deleted or never existed', async () => {
  expect(await ask(admin, gone)).toMatchObject({ status: 404, body: { code: 'not_erased' } });
  expect(await world.ask('/users/x/erasure', { by: admin })).toMatchObject({
    status: 404,
    body: { code: 'not_erased' },
  });
  expect((await ask(gone, gone)).status).toBe(403);
  expect((await ask(null, gone)).status).toBe(401);
});

test('a report shows what was erased and what stays, and when nothing is left', async () => {
  await world.side.send({ type: 'DeleteUser', userId: gone.id }, by(as(admin.id, 'admin')));
  const { body } = await until(
    () => ask(admin, gone),
    (reply) => (reply.body as ErasureReport).isDone,
  );
  expect(body).toMatchObject({
    asked: { actor: `user:${admin.id}`, client: 'test-client' },
    sealed: [
      { type: 'comment.added', events: 1 },
      { type: 'user.registered', events: 1 },
    ],
    followed: [{ type: 'article.deleted', events: 1 }],
    kept: { publishedArticles: 1, commentsWithoutText: 1 },
  });
  expect(JSON.stringify(body)).not.toContain('Erasmus');
});

test('a report holds no more than a page of the user’s stream in memory', async () => {
  const { side } = world;
  const eventLog = {
    read: smallPages(side.eventLog, 1).read,
    head: () => side.eventLog.head(),
    follow: side.eventLog.follow.bind(side.eventLog),
  };
  const report = await reportErasure(
    { ...side, eventLog, erasures: { read: async () => [], path: side.erasures.path } },
    gone.id,
    AbortSignal.timeout(scaled(20_000)),
  );
  expect(report).toMatchObject({
    asked: { actor: `user:${admin.id}` },
    sealed: [{ type: 'comment.added' }, { type: 'user.registered' }],
  });
});

test('a report names the parts that have residual personal data', async () => {
  await world.side.pool.query(`update read_model.users set name = 'Erasmus' where id = $1`, [gone.id]);
  const report = (await ask(admin, gone)).body as ErasureReport;
  expect(report.isDone).toBe(false);
  expect(report.parts.filter(({ isDone }) => !isDone)).toEqual([
    { part: 'read_model', left: 1, isDone: false },
  ]);
});

test('one report runs at a time, and concurrent requests get 503 with Retry-After', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { domain, pool, erasures, eventLog, blobs } = world.side;
  const slow = { path: erasures.path, read: () => promise.then(() => erasures.read()) };
  const { getErasureOfUser } = erasureReads({ domain, pool, eventLog, blobs, erasures: slow });
  const reader = { caller: as(admin.id, 'admin'), id: String(gone.id), charge: async () => {} };
  const first = getErasureOfUser(reader, {});
  await expect(getErasureOfUser(reader, {})).rejects.toMatchObject({
    code: 'unavailable',
    headers: { 'Retry-After': '10' },
  });
  resolve();
  expect(await first).toMatchObject({ item: { userId: gone.id } });
  expect(await getErasureOfUser(reader, {})).toMatchObject({ item: { userId: gone.id } });
  await expect(getErasureOfUser({ ...reader, id: '1' }, {})).rejects.toMatchObject({ code: 'not_erased' });
  expect(await getErasureOfUser(reader, {})).toMatchObject({ item: { userId: gone.id } });
});

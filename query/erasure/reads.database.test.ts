import { expect } from 'vitest';
import { reportErasure } from '#shared/erasure/report.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import { type Asker, type Backend, test } from '../../test/engines/backend.ts';
import { addComment, as, by, draftArticle } from '../../test/engines/command-side.ts';
import { smallPages } from '../../test/engines/small-pages.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { erasureReads } from './reads.ts';

let gone: Asker;
test.beforeAll(async ({ backend }) => {
  gone = await backend.person('author', 'Erasmus');
  const articleId = await draftArticle(backend.side, gone.id);
  await draftArticle(backend.side, gone.id, false);
  await addComment(backend.side, gone.id, articleId);
});
const ask = (backend: Backend, by: Asker | null, user: Asker) =>
  backend.ask(`/users/${user.id}/erasure`, { by });

test('404 for a user who was not deleted or never existed', async ({ admin, backend }) => {
  expect(await ask(backend, admin, gone)).toMatchObject({ status: 404, body: { code: 'not_erased' } });
  expect(await backend.ask('/users/x/erasure', { by: admin })).toMatchObject({
    status: 404,
    body: { code: 'not_erased' },
  });
  expect((await ask(backend, gone, gone)).status).toBe(403);
  expect((await ask(backend, null, gone)).status).toBe(401);
});

test('a report shows what was erased and what stays, and when nothing is left', async ({
  admin,
  backend,
}) => {
  await backend.side.send({ type: 'DeleteUser', userId: gone.id }, by(as(admin.id, 'admin')));
  const { body } = await until(
    () => ask(backend, admin, gone),
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

test('a report holds no more than a page of the user’s stream in memory', async ({ admin, backend }) => {
  const { side } = backend;
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

test('a report names the parts that have residual personal data', async ({ admin, backend }) => {
  await backend.side.pool.query(`update read_model.users set name = 'Erasmus' where id = $1`, [gone.id]);
  const report = (await ask(backend, admin, gone)).body as ErasureReport;
  expect(report.isDone).toBe(false);
  expect(report.parts.filter(({ isDone }) => !isDone)).toEqual([
    { part: 'read_model', left: 1, isDone: false },
  ]);
});

test('a report that names places with residual data is not done, even if it is erased meanwhile', async ({
  backend,
}) => {
  const { domain, pool, erasures, eventLog, blobs } = backend.side;
  await pool.query(`update read_model.users set name = 'Erasmus' where id = $1`, [gone.id]);
  // Erases between the count of the places and that of the parts.
  const erasing = new Proxy(pool, {
    get: (target, name) => {
      const own: unknown = Reflect.get(target, name);
      if (name !== 'query') return typeof own === 'function' ? own.bind(target) : own;
      return async (text: string, values?: unknown[]) => {
        if (text.includes('auth.credential'))
          await target.query('update read_model.users set name = null where id = $1', [gone.id]);
        return target.query(text, values);
      };
    },
  });
  const signal = AbortSignal.timeout(scaled(20_000));
  const report = await reportErasure({ domain, pool: erasing, eventLog, blobs, erasures }, gone.id, signal);
  expect(report?.places.filter(({ left }) => left > 0)).toMatchObject([
    { place: 'read_model.users', left: 1 },
  ]);
  expect(report?.parts.filter(({ left }) => left > 0)).toEqual([]);
  expect(report?.isDone).toBe(false);
  expect((await reportErasure({ domain, pool, eventLog, blobs, erasures }, gone.id, signal))?.isDone).toBe(
    true,
  );
});

test('one report runs at a time, and concurrent requests get 503 with Retry-After', async ({
  admin,
  backend,
}) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { domain, pool, erasures, eventLog, blobs } = backend.side;
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

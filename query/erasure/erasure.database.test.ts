import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import { addComment, as, by, draftArticle } from '../../test/engines/command-side.ts';
import { type Asker, createReadWorld, type ReadWorld } from '../../test/engines/read-world.ts';
import { until } from '../../test/engines/until.ts';

let world: ReadWorld;
let admin: Asker;
let gone: Asker;
beforeAll(async () => {
  world = await createReadWorld();
  admin = await world.person('admin');
  gone = await world.person('author', 'Erasmus');
  const articleId = await draftArticle(world.side, gone.id);
  await draftArticle(world.side, gone.id, false);
  await addComment(world.side, gone.id, articleId);
});
afterAll(() => world?.[Symbol.asyncDispose]());

const ask = (by: Asker | null, user: Asker) => world.ask(`/users/${user.id}/erasure`, { by });

test('there is no report of somebody who was not deleted, or never was there', async () => {
  expect(await ask(admin, gone)).toMatchObject({ status: 404, body: { code: 'not_erased' } });
  expect(await world.ask('/users/x/erasure', { by: admin })).toMatchObject({ status: 404, body: { code: 'not_erased' } });
  expect((await ask(gone, gone)).status).toBe(403);
  expect((await ask(null, gone)).status).toBe(401);
});

test('a report says what was erased and what stays, and when nothing is left', async () => {
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

test('what is there all the same is told by its part', async () => {
  await world.side.pool.query(`update read_model.users set name = 'Erasmus' where id = $1`, [gone.id]);
  const report = (await ask(admin, gone)).body as ErasureReport;
  expect(report.isDone).toBe(false);
  expect(report.parts.filter(({ isDone }) => !isDone)).toEqual([{ part: 'read_model', left: 1, isDone: false }]);
});

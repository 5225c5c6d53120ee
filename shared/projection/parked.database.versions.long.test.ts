// Over 200 lines, because every damaged event goes through the one projector that is set up here.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StreamName, UserId } from '#kernel/base/brands.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { findParked } from '#shared/read-model/parked.ts';
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
import { SHARED_LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { appendRaw, replayed, startProjecting, untilProjected } from '../../test/engines/projection.ts';
import { digestOf } from './digest.ts';
import { retry } from './retry.ts';
import { skipParked } from './skip-parked.ts';

/** PostgreSQL has no year 0, and RFC 3339 has. */
const AT_NO_TIME = {
  version: 1,
  at: '0000-01-01T00:00:00.000Z',
  actor: 'system:test',
  client: null,
  request: 'r',
  $correlationId: 'c',
  $causationId: null,
};

describe.each(SHARED_LOG_ENGINES)('on %s', (_name, startLog) => {
  let database: CommandDatabase;
  let side: CommandSide;
  let projector: AsyncDisposable;
  let author: UserId;
  const metrics = createMetrics();
  beforeAll(async () => {
    database = await createCommandDatabase({ startLog });
    side = await database.open();
    projector = await startProjecting(side, metrics);
    author = await registerUser(side);
  });
  afterAll(async () => {
    await projector?.[Symbol.asyncDispose]();
    await side?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  const articleOf = async (id: number): Promise<Record<string, unknown> | undefined> => {
    await untilProjected(side);
    return (await side.pool.query('select * from read_model.articles where id = $1', [id])).rows[0];
  };

  /** An article at version 2, and an event appended to it. */
  const damagedArticle = async (event: Parameters<typeof appendRaw>[2]) => {
    const id = await draftArticle(side, author);
    expect(await articleOf(id)).toMatchObject({ version: 2 });
    const stream = `article-${id}` as StreamName;
    await appendRaw(side, stream, event, 2);
    return { id, stream, mark: { articleId: id, authorId: author } };
  };
  const edited = (title: string, more = {}) => ({ type: 'article.edited', data: { title, ...more } });
  const equalsReplay = async () => {
    await untilProjected(side);
    const live = await digestOf(side.pool, 'read_model');
    expect(await replayed(side)).toEqual(live);
    expect(await replayed(side, 1)).toEqual(live);
  };

  test.each([
    [
      'has a type that is not known',
      () => ({ type: 'article.eaten', data: {} }),
      'has the unknown type "article.eaten"',
    ],
    [
      'has a version that only a later release knows',
      () => ({
        type: 'article.edited',
        data: { title: 'New' },
        metadata: { ...AT_NO_TIME, at: '2026-01-02T03:04:05.678Z', version: 2 },
      }),
      'is known up to version 1',
    ],
    ['is not what its type says', () => ({ type: 'article.edited', data: { title: 5 } }), 'is malformed: '],
    [
      'belongs elsewhere',
      () => ({ type: 'article.published', data: { articleId: 1, authorId: author } }),
      'it does not belong on article-',
    ],
  ])('an event that %s takes its aggregate alone out of the read model', async (_what, event, reason) => {
    const { id, stream } = await damagedArticle(event());
    const other = await draftArticle(side, author);
    expect(await articleOf(other)).toMatchObject({ version: 2 });
    expect(await articleOf(id)).toBeUndefined();
    const { type } = event();
    expect(await findParked(side.pool, stream)).toMatchObject({
      stream,
      version: 3,
      type,
      reason: expect.stringContaining(reason),
    });
    await equalsReplay();
  });

  test('so does an event that the database refuses, whatever follows it, and the reason contains none of its values', async () => {
    const { id, stream, mark } = await damagedArticle({ type: 'article.published', data: {} });
    const refused = await draftArticle(side, author);
    const again = { articleId: refused, authorId: author };
    await appendRaw(
      side,
      `article-${refused}`,
      { type: 'article.unpublished', data: again, metadata: AT_NO_TIME },
      2,
    );
    await appendRaw(side, `article-${refused}`, { type: 'article.deleted', data: again }, 3);
    expect(await articleOf(refused)).toBeUndefined();
    const reason = 'The database refuses the values of the event: SQLSTATE 22008';
    expect(await findParked(side.pool, `article-${refused}` as StreamName)).toMatchObject({
      version: 3,
      reason,
    });
    expect([await articleOf(id), mark.articleId]).toEqual([undefined, id]);
    expect(await findParked(side.pool, stream)).toMatchObject({ version: 3 });
    await equalsReplay();
  });

  test('a retry applies everything once the cause is fixed, and otherwise reports the event that parks the aggregate', async () => {
    await side.pool.query(
      `alter table read_model.articles add constraint no_nonsense check (title <> 'Nonsense')`,
    );
    const id = await draftArticle(side, author);
    const stream = `article-${id}` as StreamName;
    await side.send({ type: 'EditArticle', articleId: id, title: 'Nonsense' }, by(as(author)));
    expect(await articleOf(id)).toBeUndefined();
    const before = await findParked(side.pool, stream);
    expect(before).toMatchObject({ version: 3, reason: expect.stringContaining('constraint no_nonsense') });
    expect(await retry(side, stream)).toMatchObject({ version: 3 });
    expect(await findParked(side.pool, stream)).toEqual(before);
    await side.send({ type: 'EditArticle', articleId: id, title: 'Sense' }, by(as(author)));
    await untilProjected(side);
    await side.pool.query('alter table read_model.articles drop constraint no_nonsense');
    expect(await retry(side, stream)).toBeUndefined();
    expect(await articleOf(id)).toMatchObject({ title: 'Sense', version: 4 });
    await expect(retry(side, stream)).rejects.toThrow(`${stream} is not parked`);
    await equalsReplay();
  });

  test('a skip leaves that event out of every projection, and the row shows the version of the stream', async () => {
    const { id, stream, mark } = await damagedArticle(edited('Three'));
    await appendRaw(side, stream, edited('Four', mark), 3);
    await appendRaw(side, stream, { type: 'article.eaten', data: {} }, 4);
    await untilProjected(side);
    await expect(skipParked(side, { stream, version: 4 as never })).rejects.toThrow(
      'is now parked at version 3, no longer at 4',
    );
    expect(await skipParked(side, { stream, version: 3 as never })).toMatchObject({
      version: 5,
      type: 'article.eaten',
    });
    expect(await articleOf(id)).toBeUndefined();
    expect(await skipParked(side, { stream, version: 5 as never })).toBeUndefined();
    expect(await articleOf(id)).toMatchObject({ title: 'Four', version: 5 });
    await equalsReplay();
    await appendRaw(side, stream, edited('Six', mark), 5);
    expect(await articleOf(id)).toMatchObject({ title: 'Six', version: 6 });
    await equalsReplay();
    const shown = await metrics.metrics();
    const { rows } = await side.pool.query<{ parked: number }>(
      'select count(*) as parked from read_model.parked',
    );
    expect(shown).toContain('annals_projector_skipped 2\n');
    expect(shown).toMatch(/^annals_projector_parkings_total [1-9]/m);
    expect(shown).toContain(`annals_projector_parked ${rows[0]?.parked}\n`);
    expect(shown).toContain('annals_follower_behind{follower="projector"} 0\n');
    expect(shown).toContain('annals_follower_behind_seconds{follower="projector"} 0\n');
  });

  test('a retry applies no more than the projector has, and the projector continues from there', async () => {
    const { id, stream, mark } = await damagedArticle(edited('Three'));
    expect(await articleOf(id)).toBeUndefined();
    await projector[Symbol.asyncDispose]();
    await appendRaw(side, stream, edited('Four', mark), 3);
    expect(await skipParked(side, { stream, version: 3 as never })).toBeUndefined();
    const { rows } = await side.pool.query('select title, version from read_model.articles where id = $1', [
      id,
    ]);
    expect(rows).toEqual([{ title: 'On engines', version: 3 }]);
    projector = await startProjecting(side);
    expect(await articleOf(id)).toMatchObject({ title: 'Four', version: 4 });
    await equalsReplay();
  });

  test('a deleted user’s content is removed, even while it is parked', async () => {
    const reader = await registerUser(side);
    const articleId = await draftArticle(side, author);
    const early = await addComment(side, reader, articleId);
    await appendRaw(side, `user-${reader}`, { type: 'user.eaten', data: {} }, 1);
    await appendRaw(side, `user-${reader}`, { type: 'user.deleted', data: { userId: reader } }, 2);
    await untilProjected(side);
    const { rows } = await side.pool.query('select text from read_model.comments where id = $1', [early]);
    expect(rows).toEqual([{ text: null }]);
    expect(await findParked(side.pool, `user-${reader}` as StreamName)).toMatchObject({ version: 2 });
    await equalsReplay();
  });
});

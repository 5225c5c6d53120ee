import { dirname } from 'node:path';
import { expect } from 'vitest';
import type { StreamName, UserId, Version } from '#kernel/base/brands.ts';
import { rebuild } from '#shared/projection/rebuild.ts';
import { skipParked } from '#shared/projection/skip-parked.ts';
import { report as reportSchema } from '#shared/rest/verification-report.ts';
import { as, by, draftArticle } from '../../test/engines/command-side.ts';
import { appendRaw, untilProjected } from '../../test/engines/projection.ts';
import { test } from '../../test/engines/verified-read-model.ts';
import { until } from '../../testing/until.ts';
import { summaryOf } from './summary.ts';

/** Valid and invalid excuses for a difference. */

test('a skipped event that could be applied is found, although all rows agree', async ({
  authors,
  readModel,
  side,
}) => {
  const author = authors[0] as UserId;
  const articleId = await draftArticle(side, author);
  await side.send({ type: 'EditArticle', articleId, title: 'Meant to vanish' }, by(as(author)));
  await untilProjected(side);
  const stream = `article-${articleId}`;
  const skip = `insert into public.projection_skip (stream, version, position, reason) values ($1, 3, 999999, 'It could not be read')`;
  await side.pool.query(skip, [stream]);
  // Anybody with database access can adapt rows and digests.
  await rebuild(readModel.work());
  const report = reportSchema.parse(await readModel.verify());
  expect(report.findings).toMatchObject({
    byKind: { left_out_though_sound: 1 },
    listed: [
      {
        stream,
        version: 3,
        type: 'article.edited',
        position: expect.any(Number),
        reason: 'It could not be read',
      },
    ],
    total: 1,
  });
  expect(summaryOf(report).join('\n')).toContain('delete its row from public.projection_skip');
  await side.pool.query('delete from public.projection_skip');
  await rebuild(readModel.work());
  expect((await readModel.verify()).outcome).toBe('proven');
});

test('an event that the database refuses is skipped with reason, and so is an unreadable one', async ({
  authors,
  readModel,
  side,
}) => {
  const author = authors[0] as UserId;
  const metadata = {
    ...{ version: 1, at: '0000-01-01T00:00:00.000Z', actor: 'system:test', client: null, request: 'r' },
    ...{ $correlationId: 'c', $causationId: null },
  };
  const id = await draftArticle(side, author);
  const stream = `article-${id}` as StreamName;
  await appendRaw(
    side,
    stream,
    { type: 'article.unpublished', data: { articleId: id, authorId: author }, metadata },
    2,
  );
  await appendRaw(side, stream, { type: 'article.eaten', data: {} }, 3);
  await untilProjected(side);
  await skipParked(side, { stream, version: 3 as Version });
  await skipParked(side, { stream, version: 4 as Version });
  expect(await readModel.verify()).toMatchObject({
    outcome: 'proven',
    parked: { total: 0 },
    leftOut: { total: 2 },
  });
});

test('a key destroyed by a deletion after the verified range is no difference, with or without the erasure list', async ({
  authors,
  readModel,
  side,
}) => {
  const [, , leaving] = authors as [UserId, UserId, UserId];
  const at = await side.eventLog.head();
  await side.send({ type: 'DeleteUser', userId: leaving }, by(as(leaving)));
  await untilProjected(side);
  await until(
    async () => (await side.keys.find([leaving])).get(leaving),
    (key) => key === 'destroyed',
  );
  expect((await readModel.verify({ at })).findings.listed).toEqual([]);
  expect((await readModel.verify({ at, auditDir: dirname(side.erasures.path) })).findings.listed).toEqual([]);
});

test('a destroyed key without a deletion is found, and so are changes that it would hide', async ({
  authors,
  readModel,
  side,
}) => {
  const forged = authors[3] as UserId;
  await side.pool.query(
    'update public.person_key set destroyed_at = now(), wrapped = null where subject = $1',
    [forged],
  );
  await side.pool.query(`update read_model.users set name = 'Forged' where id = $1`, [forged]);
  const { findings } = reportSchema.parse(await readModel.verify());
  expect(findings.listed).toContainEqual({
    kind: 'key_destroyed_without_deletion',
    userId: forged,
    destroyedAt: expect.any(String),
  });
  expect(findings.listed).toContainEqual(
    expect.objectContaining({ kind: 'row_different', table: 'users', key: String(forged) }),
  );
});

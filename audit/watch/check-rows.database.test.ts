import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StreamName, UserId } from '#shared/brands.ts';
import { draftArticle } from '../../test/engines/command-side.ts';
import { createFilledReadModel, type FilledReadModel } from '../../test/engines/filled-read-model.ts';
import { LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { untilProjected } from '../../test/engines/projection.ts';
import { smallPages } from '../../test/engines/small-pages.ts';
import type { ArticleId } from '../../test/publishing-ids.ts';
import { checkRow } from './check-rows.ts';

let readModel: FilledReadModel;
let articleId: ArticleId;
beforeAll(async () => {
  readModel = await createFilledReadModel(LOG_ENGINES[0]?.[1] as never);
  articleId = await readModel.writeSome(readModel.authors[0] as UserId);
  await untilProjected(readModel.side);
});
afterAll(() => readModel?.[Symbol.asyncDispose]());

test('a row is compared with its stream with at most one page in memory', async () => {
  const { side } = readModel;
  const stream = `article-${articleId}` as StreamName;
  const dependencies = {
    ...side,
    eventLog: smallPages(side.eventLog, 1),
    signal: new AbortController().signal,
  };
  expect(await checkRow(dependencies, stream)).toEqual([]);
  await side.pool.query(`update read_model.articles set title = 'Other' where id = $1`, [articleId]);
  expect(await checkRow(dependencies, stream)).toMatchObject([
    { kind: 'row_different', stream, fields: ['title'] },
  ]);
});

test('a time of publication is compared with its event', async () => {
  const { side } = readModel;
  const stream = `article-${await draftArticle(side, readModel.authors[0] as UserId)}` as StreamName;
  await untilProjected(side);
  const dependencies = { ...side, signal: new AbortController().signal };
  expect(await checkRow(dependencies, stream)).toEqual([]);
  await side.pool.query(
    `update read_model.articles set published_at = published_at - interval '1 day' where id = $1`,
    [Number(stream.split('-')[1])],
  );
  expect(await checkRow(dependencies, stream)).toMatchObject([
    { kind: 'row_different', stream, fields: ['published_at'] },
  ]);
});

import { expect } from 'vitest';
import type { StreamName, UserId } from '#kernel/base/brands.ts';
import { draftArticle } from '../../test/engines/command-side.ts';
import { test } from '../../test/engines/filled-read-model.ts';
import { untilProjected } from '../../test/engines/projection.ts';
import { smallPages } from '../../test/engines/small-pages.ts';
import { checkRow } from './check-rows.ts';

test('a row is compared with its stream with at most one page in memory', async ({
  authors,
  readModel,
  side,
}) => {
  const articleId = await readModel.writeSome(authors[0] as UserId);
  await untilProjected(side);
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

test('a time of publication is compared with its event', async ({ authors, side }) => {
  const stream = `article-${await draftArticle(side, authors[0] as UserId)}` as StreamName;
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

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import { createFilledReadModel, type FilledReadModel } from '../../test/engines/filled-read-model.ts';
import { LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { appendRaw, untilProjected } from '../../test/engines/projection.ts';
import { tables } from '../../test/engines/tables.ts';
import { until } from '../../testing/until.ts';
import type { Progress } from './catch-up.ts';
import { digestOf } from './digest.ts';
import { rebuild } from './rebuild.ts';
import { retry } from './retry.ts';
import { rollback } from './rollback.ts';
import { createReadModel } from './schema.ts';
import { readStatus } from './status.ts';
import { lockVersions } from './versions.ts';

describe.each(LOG_ENGINES)('a rebuild of the read model on %s', (_name, startLog) => {
  let readModel: FilledReadModel;
  beforeAll(async () => {
    readModel = await createFilledReadModel(startLog);
  });
  afterAll(() => readModel?.[Symbol.asyncDispose]());

  const schemas = async (): Promise<readonly string[]> => {
    const { rows } = await readModel.side.pool.query<{ name: string }>(
      `select nspname as name from pg_namespace where nspname like 'read_model%' order by 1`,
    );
    return rows.map(({ name }) => name);
  };

  test('produces the same as a fresh replay, keeps the former version, and a rollback brings that up to date', async () => {
    const { events, position } = await rebuild(readModel.work());
    expect(events).toBeGreaterThan(20);
    expect(await schemas()).toEqual(['read_model', 'read_model_previous']);
    expect((await readStatus(readModel.side)).previous).toMatchObject({
      position,
      bytes: expect.any(Number),
    });
    await readModel.expectReplayed();
    const articleId = await readModel.writeSome(readModel.authors[0] as UserId);
    await untilProjected(readModel.side);
    await rollback(readModel.work());
    expect(
      (await readModel.side.pool.query('select title from read_model.articles where id = $1', [articleId]))
        .rows,
    ).toHaveLength(1);
    await readModel.expectReplayed();
    expect(await digestOf(readModel.side.pool, 'read_model_previous')).toEqual(
      await digestOf(readModel.side.pool, 'read_model'),
    );
    await readModel.writeSome(readModel.authors[1] as UserId);
    await rollback(readModel.work());
    await readModel.expectReplayed();
    expect(await schemas()).toEqual(['read_model', 'read_model_previous']);
  });

  test('has the indexes and the columns of one created at the start', async () => {
    await rebuild(readModel.work());
    await createReadModel(readModel.side.pool, tables, 'from_the_start');
    const shapeOf = async (schema: string) => {
      const { rows } = await readModel.side.pool.query<{ shape: string }>(
        `select replace(indexdef, $1 || '.', '') as shape from pg_indexes where schemaname = $1
         union all
         select concat_ws(' ', table_name, ordinal_position, column_name, data_type, is_nullable, is_generated)
         from information_schema.columns where table_schema = $1
         order by 1`,
        [schema],
      );
      return rows.map(({ shape }) => shape);
    };
    expect(await shapeOf('read_model')).toEqual(await shapeOf('from_the_start'));
  });

  test('runs one at a time, and the second says so', async () => {
    // One may have ended before the other begins.
    const both = await until(
      () => Promise.allSettled([rebuild(readModel.work()), rebuild(readModel.work())]),
      (results) => results.some(({ status }) => status === 'rejected'),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { message: expect.stringContaining('already in progress') },
    });
    {
      await using held = await lockVersions(readModel.side.pool);
      expect(held).toBeDefined();
      await expect(rollback(readModel.work())).rejects.toThrow('already in progress');
    }
    await readModel.expectReplayed();
  });

  test('reading the status does not keep it from beginning', async () => {
    let isOver = false;
    const asking = Promise.all(
      Array.from({ length: 3 }, async () => {
        while (!isOver) await readStatus(readModel.side);
      }),
    );
    const refused: unknown[] = [];
    for (let n = 0; n < 100; n += 1) {
      await using held = await lockVersions(readModel.side.pool);
      if (held === undefined) refused.push(n);
    }
    isOver = true;
    await asking;
    expect(refused).toEqual([]);
  });

  test.each(['events', 'indexes'] as const)('stopped at its %s leaves everything as it was', async (step) => {
    const before = await schemas();
    const stopping = new AbortController();
    const onProgress = (progress: Progress) => {
      if (progress.step === step) stopping.abort();
    };
    await expect(rebuild(readModel.work({ signal: stopping.signal, onProgress }))).rejects.toThrow();
    expect(await schemas()).toEqual(before);
    await rebuild(readModel.work());
    await readModel.expectReplayed();
  });

  test('applies an aggregate whose cause was fixed, and respects operators who were faster', async () => {
    const [first, second] = ['article-770001', 'article-770002'];
    await readModel.side.pool.query(
      'alter table read_model.articles add constraint none_such check (id not in (770001, 770002))',
    );
    const drafted = (id: number) => ({
      type: 'article.drafted',
      data: { articleId: id, authorId: 1, title: 'T', body: '', tags: [], cover: null },
    });
    await appendRaw(readModel.side, first, drafted(770_001));
    await appendRaw(readModel.side, second, drafted(770_002));
    await untilProjected(readModel.side);
    expect((await readStatus(readModel.side)).live.parked).toBe(2);
    await rebuild(readModel.work());
    expect((await readStatus(readModel.side)).live.parked).toBe(0);
    await readModel.expectReplayed();
    // The previous version has them parked, and its tables still refuse one of them.
    await readModel.side.pool.query('alter table read_model_previous.articles drop constraint none_such');
    await rollback(readModel.work());
    expect((await readStatus(readModel.side)).live.parked).toBe(0);
    await readModel.expectReplayed();
    await expect(retry(readModel.side, first as never)).rejects.toThrow('not parked');
  });
});

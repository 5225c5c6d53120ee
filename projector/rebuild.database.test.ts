import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ArticleId, UserId } from '#shared/brands.ts';
import {
  addComment,
  as,
  by,
  type CommandSide,
  type CommandWorld,
  createCommandWorld,
  draftArticle,
  registerUser,
} from '../test/engines/command-side.ts';
import { LOG_ENGINES } from '../test/engines/log-engines.ts';
import { appendRaw, replayed, startProjecting, untilProjected } from '../test/engines/projection.ts';
import { until } from '../test/engines/until.ts';
import type { Progress, Work } from './catch-up.ts';
import { digestOf } from './digest.ts';
import { rebuild } from './rebuild.ts';
import { retry } from './retry.ts';
import { rollback } from './rollback.ts';
import { createReadModel } from './service.ts';
import { readStatus } from './status.ts';

const never = new AbortController().signal;

describe.each(LOG_ENGINES)('a rebuild of the read model on %s', (_name, startLog) => {
  let world: CommandWorld;
  let side: CommandSide;
  let projector: AsyncDisposable;
  let authors: readonly UserId[];
  beforeAll(async () => {
    world = await createCommandWorld(startLog);
    side = await world.open();
    projector = await startProjecting(side);
    authors = await Promise.all(Array.from({ length: 4 }, (_, n) => registerUser(side, { name: `Person ${n}` })));
    await Promise.all(authors.map((author) => writeSome(author)));
    await untilProjected(side);
  });
  afterAll(async () => {
    await projector?.[Symbol.asyncDispose]();
    await side?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
  });

  const work = (more: Partial<Work> = {}): Work => ({ ...side, signal: never, onProgress() {}, ...more });

  const writeSome = async (author: UserId): Promise<ArticleId> => {
    const articleId = await draftArticle(side, author);
    const commentId = await addComment(side, author, articleId);
    await side.send({ type: 'EditArticle', articleId, title: `Title of ${articleId}` }, by(as(author)));
    await addComment(side, author, articleId);
    await side.send({ type: 'DeleteComment', commentId }, by(as(author)));
    return articleId;
  };

  const schemas = async (): Promise<readonly string[]> => {
    const { rows } = await side.pool.query<{ name: string }>(
      `select nspname as name from pg_namespace where nspname like 'read_model%' order by 1`,
    );
    return rows.map(({ name }) => name);
  };

  const expectReplayed = async () => {
    await untilProjected(side);
    expect(await digestOf(side.pool, 'read_model')).toEqual(await replayed(side));
  };

  test('makes what a fresh replay makes, keeps the former one, and rolling back brings that up to date', async () => {
    const { events, position } = await rebuild(work());
    expect(events).toBeGreaterThan(20);
    expect(await schemas()).toEqual(['read_model', 'read_model_previous']);
    expect((await readStatus(side)).previous).toMatchObject({ position, bytes: expect.any(Number) });
    await expectReplayed();
    const articleId = await writeSome(authors[0] as UserId);
    await untilProjected(side);
    await rollback(work());
    expect((await side.pool.query('select title from read_model.articles where id = $1', [articleId])).rows).toHaveLength(1);
    await expectReplayed();
    expect(await digestOf(side.pool, 'read_model_previous')).toEqual(await digestOf(side.pool, 'read_model'));
    await writeSome(authors[1] as UserId);
    await rollback(work());
    await expectReplayed();
    expect(await schemas()).toEqual(['read_model', 'read_model_previous']);
  });

  test('has the indexes and the columns of one that was made at the start', async () => {
    await rebuild(work());
    await createReadModel(side.pool, 'from_the_start');
    const shapeOf = async (schema: string) => {
      const { rows } = await side.pool.query<{ shape: string }>(
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

  test('under continuous writes no read fails, and no reader sees the read model go back', async () => {
    await using writing = startWriting(200);
    await using reading = startReading();
    await reading.until((reads) => reads > 50);
    for (let n = 0; n < 3; n += 1) await rebuild(work());
    const reads = reading.reads();
    await rollback(work());
    await reading.until((now) => now > reads + 50);
    await writing[Symbol.asyncDispose]();
    expect(writing.written()).toBeGreaterThan(100);
    await untilProjected(side);
    await reading[Symbol.asyncDispose]();
    expect(reading.seen()).toEqual({ failures: [], backwards: 0 });
    await expectReplayed();
  });

  /** Reads by prepared statements on connections that are kept, as pools keep them. */
  const startReading = () => {
    let reads = 0;
    let isOver = false;
    const failures: unknown[] = [];
    let backwards = 0;
    const read = async () => {
      const client = new pg.Client({ connectionString: side.databaseUrl });
      await client.connect();
      const last = { position: 0, articles: new Map<number, number>() };
      while (!isOver) {
        try {
          const { rows } = await client.query({
            name: 'where-and-what',
            text: `select (select position::float8 from follower_checkpoint where follower = 'projector') as position, a.id::float8 as id, a.version, u.name,
                     (select count(*) from read_model.comments c where c.article_id = a.id) as comments
                   from read_model.articles a join read_model.users u on u.id = a.author_id order by a.id limit 5`,
          });
          if (rows.length !== 5) failures.push(`${rows.length} rows`);
          for (const { position, id, version } of rows) {
            if (position < last.position || version < (last.articles.get(id) ?? 0)) backwards += 1;
            last.position = position;
            last.articles.set(id, version);
          }
          reads += 1;
        } catch (error) {
          failures.push(error);
        }
        await delay(1);
      }
      await client.end();
    };
    const readers = Promise.all(Array.from({ length: 4 }, read));
    return {
      reads: () => reads,
      until: (isEnough: (reads: number) => boolean) =>
        until(
          () => ({ reads, failures }),
          (seen) => seen.failures.length > 0 || isEnough(seen.reads),
        ),
      seen: () => ({ failures, backwards }),
      async [Symbol.asyncDispose]() {
        isOver = true;
        await readers;
      },
    };
  };

  /** Writes through the command side, so many a second at most. */
  const startWriting = (perSecond: number) => {
    let written = 0;
    let isOver = false;
    const write = async () => {
      const author = authors[0] as UserId;
      const articleId = await draftArticle(side, author);
      for (let n = 0; !isOver; n += 1) {
        if (n % 2) await addComment(side, author, articleId);
        else await side.send({ type: 'EditArticle', articleId, title: `Title ${n}` }, by(as(author)));
        written += 1;
        await delay(4_000 / perSecond);
      }
    };
    const writers = Promise.all(Array.from({ length: 4 }, write));
    return {
      written: () => written,
      async [Symbol.asyncDispose]() {
        isOver = true;
        await writers;
      },
    };
  };

  test('is one at a time, and the second says so', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const first = rebuild(work({ onProgress: () => begin() }));
    await begun;
    await expect(rebuild(work())).rejects.toThrow('under way already');
    await expect(rollback(work())).rejects.toThrow('under way already');
    await first;
    await expectReplayed();
  });

  test.each(['events', 'indexes'] as const)('that is stopped at its %s leaves everything as it was', async (step) => {
    const before = await schemas();
    const stopping = new AbortController();
    const onProgress = (progress: Progress) => {
      if (progress.step === step) stopping.abort();
    };
    await expect(rebuild(work({ signal: stopping.signal, onProgress }))).rejects.toThrow();
    expect(await schemas()).toEqual(before);
    await rebuild(work());
    await expectReplayed();
  });

  test('goes on when another process takes over the projecting in the middle', async () => {
    await writeSome(authors[2] as UserId);
    let takenOver: Promise<unknown> | undefined;
    const takeOver = async () => {
      const former = projector;
      projector = await startProjecting(side);
      await former[Symbol.asyncDispose]();
      await writeSome(authors[2] as UserId);
    };
    await rebuild(
      work({
        onProgress() {
          takenOver ??= takeOver();
        },
      }),
    );
    await takenOver;
    await expectReplayed();
  });

  test('takes in an aggregate whose cause was mended, and follows operators who were faster', async () => {
    const [first, second] = ['article-770001', 'article-770002'];
    await side.pool.query('alter table read_model.articles add constraint none_such check (id not in (770001, 770002))');
    const drafted = (id: number) => ({
      type: 'article.drafted',
      data: { articleId: id, authorId: 1, title: 'T', body: '', tags: [], cover: null },
    });
    await appendRaw(side, first, drafted(770_001));
    await appendRaw(side, second, drafted(770_002));
    await untilProjected(side);
    expect((await readStatus(side)).live.parked).toBe(2);
    await rebuild(work());
    expect((await readStatus(side)).live.parked).toBe(0);
    await expectReplayed();
    // The previous version has them parked, and its tables still refuse one of them.
    await side.pool.query('alter table read_model_previous.articles drop constraint none_such');
    await rollback(work());
    expect((await readStatus(side)).live.parked).toBe(0);
    await expectReplayed();
    await expect(retry(side, first as never)).rejects.toThrow('not parked');
  });
});

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import { openPool } from '#shared/database/pool.ts';
import { addComment, as, by, type CommandSide, draftArticle } from '../../test/engines/command-side.ts';
import { createFilledReadModel, type FilledReadModel } from '../../test/engines/filled-read-model.ts';
import { SHARED_LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { untilProjected } from '../../test/engines/projection.ts';
import { until } from '../../testing/until.ts';
import { rebuild } from './rebuild.ts';
import { rollback } from './rollback.ts';

describe.each(SHARED_LOG_ENGINES)('a rebuild during normal operation, on %s', (_name, startLog) => {
  let readModel: FilledReadModel;
  beforeAll(async () => {
    readModel = await createFilledReadModel(startLog);
  });
  afterAll(() => readModel?.[Symbol.asyncDispose]());

  test('under continuous writes no read fails, and no reader sees the read model go back', async () => {
    await using writing = startWriting(readModel, 200);
    await using reading = startReading(readModel.side);
    await reading.until((reads) => reads > 50);
    for (let n = 0; n < 3; n += 1) await rebuild(readModel.work());
    const reads = reading.reads();
    await rollback(readModel.work());
    await reading.until((now) => now > reads + 50);
    await until(writing.written, (written) => written > 100);
    await writing[Symbol.asyncDispose]();
    await untilProjected(readModel.side);
    await reading[Symbol.asyncDispose]();
    expect(reading.seen()).toEqual({ failures: [], backwards: 0 });
    await readModel.expectReplayed();
  });

  test('continues when another process takes over the projection in the middle', async () => {
    const author = readModel.authors[2] as UserId;
    await readModel.writeSome(author);
    let takenOver: Promise<unknown> | undefined;
    const takeOver = async () => {
      await readModel.takeOver();
      await readModel.writeSome(author);
    };
    await rebuild(
      readModel.work({
        onProgress() {
          takenOver ??= takeOver();
        },
      }),
    );
    await takenOver;
    await readModel.expectReplayed();
  });
});

/** Reads by prepared statements on connections that are kept. */
const startReading = ({ databaseUrl }: CommandSide) => {
  let reads = 0;
  let isOver = false;
  const failures: unknown[] = [];
  let backwards = 0;
  const read = async () => {
    await using pool = openPool({ url: databaseUrl, applicationName: 'test', connectionsMax: 1 });
    const last = { position: 0, articles: new Map<number, number>() };
    while (!isOver) {
      try {
        const { rows } = await pool.query({
          name: 'where-and-what',
          text: `select (select position::float8 from public.follower_checkpoint where follower = 'projector') as position, a.id::float8 as id, a.version, u.name,
                   (select count(*) from read_model.comments c where c.article_id = a.id) as comments
                 from read_model.articles a join read_model.users u on u.id = a.author_id order by a.id limit 4`,
        });
        if (rows.length !== 4) failures.push(`${rows.length} rows`);
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

/** Writes through the command side, with a maximum rate per second. */
const startWriting = ({ side, authors }: FilledReadModel, perSecond: number) => {
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

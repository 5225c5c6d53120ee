import { dirname } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import { as, by, registerUser } from '../../test/engines/command-side.ts';
import { createFilledReadModel, type FilledReadModel } from '../../test/engines/filled-read-model.ts';
import { SHARED_LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { appendRaw, untilProjected } from '../../test/engines/projection.ts';
import { WEBHOOK_FORM } from '../../test/webhook-form.ts';
import { until } from '../../testing/until.ts';
import { startChain } from '../chain/follow-chain.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { listDifferences, readWatched } from '../stored/watch.ts';
import { startWatch } from './service.ts';
import { step } from './step.ts';

const silent = pino({ level: 'silent' });
let readModel: FilledReadModel;

const chainUp = async () => {
  const { side } = readModel;
  await untilProjected(side);
  await using _chain = await startChain({
    ...{ ...side, log: silent, metrics: createMetrics() },
    auditDir: dirname(side.erasures.path),
  });
  const head = await side.eventLog.head();
  await until(
    () => readChainEnd(side.pool),
    ({ position }) => position >= head,
  );
};

/** One complete round: its last step, and all that it has found. */
const wholeRound = async () => {
  const signal = new AbortController().signal;
  const differences = [];
  for (;;) {
    const taken = await step({ ...readModel.side, signal });
    differences.push(...taken.differences);
    if (taken.isEnd) return { taken, differences };
  }
};
const round = async () => (await wholeRound()).differences;

const open = async (startLog: (typeof SHARED_LOG_ENGINES)[number][1]) => {
  readModel = await createFilledReadModel(startLog);
  await migrateAudit(readModel.side.pool);
};

const webhook = { type: 'RegisterWebhook', ...WEBHOOK_FORM, headers: { 'X-Team': 'one' } } as const;

describe.each(SHARED_LOG_ENGINES)('on %s', (_name, startLog) => {
  beforeEach(() => open(startLog));
  afterEach(() => readModel?.[Symbol.asyncDispose]());

  test('an intact log has no findings, with erased users and parked items too', async () => {
    const { side } = readModel;
    const userId = await registerUser(side, { name: 'Gone', email: 'gone@example.com' });
    const articleId = await readModel.writeSome(userId);
    await side.send(webhook, by(as(userId)));
    const owner = readModel.authors[0] as UserId;
    await side.send(webhook, by(as(owner)));
    await side.send({ type: 'DeleteUser', userId }, by(as(userId)));
    const { length } = (await Array.fromAsync(side.eventLog.read(`article-${articleId}` as never))).flat();
    await appendRaw(side, `article-${articleId}`, { type: 'article.eaten', data: {} }, length);
    await until(
      async () => (await side.pool.query('select from read_model.parked')).rowCount,
      (count) => count === 1,
    );
    await chainUp();
    expect(await round()).toEqual([]);
    expect(await readWatched(side.pool)).toMatchObject({ round: 1, differences: 0, finishedDifferences: 0 });
    await readModel.writeSome(owner);
    await chainUp();
    expect(await round()).toEqual([]);
    expect(await readWatched(side.pool)).toMatchObject({ round: 2 });
  });
});

describe('on PostgreSQL', () => {
  beforeEach(() => open(SHARED_LOG_ENGINES[0]?.[1] as never));
  afterEach(() => readModel?.[Symbol.asyncDispose]());

  test.each([
    [`update read_model.users set name = 'Eve' where id = $1`, 'users', ['name']],
    [
      `update read_model.articles set title = 'Other', body = 'Other' where author_id = $1`,
      'articles',
      ['title', 'body'],
    ],
    ['delete from read_model.comments where author_id = $1', 'comments', ['id']],
    ['update read_model.comments set author_id = 1 where author_id = $1', 'comments', ['author_id']],
  ])('%s is found, by its row and by its field', async (statement, table, fields) => {
    await chainUp();
    await readModel.side.pool.query(statement, [readModel.authors[0]]);
    const found = await round();
    const rows = found.filter(({ kind }) => kind === 'row_different');
    expect(rows).toEqual([
      expect.objectContaining({ stream: expect.stringContaining(`${table.slice(0, -1)}-`), fields }),
    ]);
    // Digests exclude personal fields: only the comparison of rows finds them.
    if (table !== 'users')
      expect(found).toContainEqual(expect.objectContaining({ kind: 'digest_different', fields: [table] }));
    expect(await listDifferences(readModel.side.pool)).toHaveLength(found.length);
    expect(await readWatched(readModel.side.pool)).toMatchObject({ finishedDifferences: found.length });
  });

  test('a changed event is found, with the row that no longer follows from it', async () => {
    await chainUp();
    const { pool } = readModel.side;
    await pool.query('alter table event_log.event disable trigger append_only');
    await pool.query(
      `update event_log.event set data = jsonb_set(data::jsonb, '{title}', '"Other"')::json where type = 'article.edited' and stream =
         (select min(stream) from event_log.event where type = 'article.edited')`,
    );
    await pool.query('alter table event_log.event enable trigger append_only');
    const found = await round();
    expect(found).toHaveLength(2);
    expect(found).toContainEqual(expect.objectContaining({ kind: 'row_different', fields: ['title'] }));
    expect(found).toContainEqual(
      expect.objectContaining({ kind: 'event_changed', stream: expect.stringMatching(/^article-/) }),
    );
  });

  test('a round knows that nothing was appended since the one before', async () => {
    await chainUp();
    const isStill = async () => (await wholeRound()).taken.isStill === true;
    expect([await isStill(), await isStill()]).toEqual([false, true]);
    await readModel.writeSome(readModel.authors[0] as UserId);
    await chainUp();
    expect([await isStill(), await isStill()]).toEqual([false, true]);
    await readModel.side.pool.query(`update read_model.articles set title = 'Other'`);
    expect(await isStill()).toBe(false);
  });

  test('it resumes where it was, and starts again after the end, at its rate', async () => {
    await chainUp();
    const { pool } = readModel.side;
    const options = {
      ...readModel.side,
      log: silent,
      metrics: createMetrics(),
      eventsPerSecond: 1_000_000,
      pauseMs: 10,
    };
    {
      await using _watch = await startWatch(options);
      await until(
        () => readWatched(pool),
        (watched) => (watched?.round ?? 0) > 2,
      );
    }
    const { count } = await readChainEnd(pool);
    expect(await readWatched(pool)).toMatchObject({ finishedCount: count, finishedDifferences: 0 });
    await pool.query('update audit.watch set round = 100, count = 0, position = 0, began_at = now()');
    await step({ ...readModel.side, signal: new AbortController().signal });
    const before = await readWatched(pool);
    expect(before).toMatchObject({ round: 100, count: expect.any(Number) });
    await using _watch = await startWatch({ ...options, metrics: createMetrics() });
    await until(
      () => readWatched(pool),
      (watched) => (watched?.round ?? 0) > 101,
    );
  });
});

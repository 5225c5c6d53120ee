import { dirname } from 'node:path';
import { pino } from 'pino';
import { test as base, expect } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import { rebuild } from '#shared/projection/rebuild.ts';
import type { CommandSide } from '../../test/engines/command-side.ts';
import { createFilledReadModel } from '../../test/engines/filled-read-model.ts';
import { inTheDatabase } from '../../test/engines/log-engines.ts';
import { appendRaw, untilProjected } from '../../test/engines/projection.ts';
import { until } from '../../testing/until.ts';
import { startChain } from '../chain/follow-chain.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { readWatched } from '../stored/watch.ts';
import { step } from './step.ts';

/** Tests that operations in progress are not reported as differences. */
const test = base
  .extend('readModel', async ({ task: _alone }, { onCleanup }) => {
    const readModel = await createFilledReadModel(inTheDatabase);
    onCleanup(() => readModel[Symbol.asyncDispose]());
    await migrateAudit(readModel.side.pool);
    return readModel;
  })
  .extend('side', ({ readModel }) => readModel.side);

const next = (side: CommandSide) => step({ ...side, signal: new AbortController().signal });

const chainUp = async (side: CommandSide) => {
  await using _chain = await startChain({
    ...side,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    auditDir: dirname(side.erasures.path),
  });
  const head = await side.eventLog.head();
  await until(
    () => readChainEnd(side.pool),
    ({ position }) => position >= head,
  );
};

/** All differences but the digest at the end. */
const untilEnd = async (side: CommandSide) => {
  const differences = [];
  for (;;) {
    differences.push(...(await next(side)).differences);
    if ((await readWatched(side.pool))?.count === (await readChainEnd(side.pool)).count) return differences;
  }
};

test('a swap during the computation of a digest makes no difference', async ({ readModel, side }) => {
  await rebuild(readModel.work());
  await readModel.writeSome(readModel.authors[0] as UserId);
  await untilProjected(side);
  await chainUp(side);
  expect(await untilEnd(side)).toEqual([]);
  const swapping = await side.pool.connect();
  try {
    await swapping.query('begin; lock table read_model.users in access exclusive mode');
    const ending = next(side);
    await until(
      async () =>
        (
          await side.pool.query(
            `select from pg_locks where not granted and relation = 'read_model.users'::regclass`,
          )
        ).rowCount,
      (count) => count === 1,
    );
    await swapping.query(
      'alter schema read_model rename to read_model_aside; alter schema read_model_previous rename to read_model; commit',
    );
    expect(await ending).toEqual({ events: 0, differences: [], isEnd: true });
  } finally {
    swapping.release(true);
  }
});

test('tables of another release are not compared with this one’s projection', async ({ side }) => {
  await untilProjected(side);
  await chainUp(side);
  await side.pool.query(
    `comment on schema read_model is 'another'; update read_model.articles set title = 'As the other has it'`,
  );
  expect([...(await untilEnd(side)), ...(await next(side)).differences]).toEqual([]);
});

test('a destroyed key before the projector has reached the deletion is no difference, and any other destroyed key is', async ({
  readModel,
  side,
}) => {
  const [leaving, other] = readModel.authors as [UserId, UserId];
  await untilProjected(side);
  await chainUp(side);
  await side.keys.destroy(leaving);
  await side.keys.destroy(other);
  const { length } = (await Array.fromAsync(side.eventLog.read(`user-${leaving}` as never))).flat();
  const projector = await side.pool.connect();
  try {
    // The projector is stopped before the deletion, with locked rows, which an erasure leaves to it.
    await projector.query(
      `begin; select from public.follower_checkpoint where follower = 'projector' for update`,
    );
    await projector.query('select from read_model.comments where author_id = $1 for update', [leaving]);
    await appendRaw(side, `user-${leaving}`, { type: 'user.deleted', data: { userId: leaving } }, length);
    const found = await untilEnd(side);
    const streams = found.map(({ stream }) => stream);
    expect(streams).toContain(`user-${other}`);
    expect(streams).not.toContain(`user-${leaving}`);
    const ownComments = await side.pool.query<{ stream: string }>(
      `select 'comment-' || id as stream from read_model.comments where author_id = $1`,
      [leaving],
    );
    expect(ownComments.rows.length).toBeGreaterThan(0);
    for (const { stream } of ownComments.rows) expect(streams).not.toContain(stream);
  } finally {
    await projector.query('rollback');
    projector.release();
  }
});

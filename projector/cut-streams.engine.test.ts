import { EventStoreDBClient } from '@eventstore/db-client';
import { pino } from 'pino';
import { expect } from 'vitest';
import type { Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { rebuild } from '#shared/projection/rebuild.ts';
import { retry } from '#shared/projection/retry.ts';
import { skipParked } from '#shared/projection/skip-parked.ts';
import { listParked } from '#shared/read-model/parked.ts';
import { as, by } from '../test/engines/command-side.ts';
import { ours } from '../test/engines/eventstoredb/ours.ts';
import { test as base } from '../test/engines/eventstoredb-fixture.ts';
import { untilProjected } from '../test/engines/projection.ts';
import { createTestClock } from '../test/engines/test-clock.ts';
import { createVerifiedReadModel } from '../test/engines/verified-read-model.ts';
import type { ArticleId } from '../test/publishing-ids.ts';
import { LOOK_EVERY_MS, startParkingCutStreams } from './cut-streams.ts';

/** The read model of an installation on EventStoreDB, and the client of its operator. */
const test = base
  .extend('client', { scope: 'file' }, ({ standIn }, { onCleanup }) => {
    const client = EventStoreDBClient.connectionString(standIn.address);
    onCleanup(() => client.dispose());
    return client;
  })
  .extend('readModel', { scope: 'file' }, async ({ standIn }, { onCleanup }) => {
    const readModel = await createVerifiedReadModel(async () => ({
      url: standIn.address,
      [Symbol.asyncDispose]: async () => {},
    }));
    onCleanup(() => readModel[Symbol.asyncDispose]());
    return readModel;
  })
  /** Where each look began. */
  .extend('begins', { scope: 'file' }, (): Position[] => [])
  .extend('lookAround', { scope: 'file' }, async ({ begins, readModel: { side } }, { onCleanup }) => {
    const clock = createTestClock();
    const { eventLog: whole } = side;
    const eventLog: EventLog = {
      ...whole,
      async cutStreams(after = START) {
        begins.push(after);
        return (await whole.cutStreams?.(after)) ?? { streams: [], upTo: after };
      },
    };
    const looking = await startParkingCutStreams({
      ...{ ...side, eventLog, clock },
      log: pino({ level: 'silent' }),
    });
    onCleanup(() => looking[Symbol.asyncDispose]());
    return clock;
  })
  .extend(
    'parked',
    { scope: 'file' },
    ({ readModel: { side } }) =>
      async () =>
        (await Array.fromAsync(listParked(side.pool))).flat(),
  )
  .extend(
    'untilParked',
    { scope: 'file' },
    ({ lookAround, parked }) =>
      (stream: StreamName) =>
        lookAround.advanceUntil(
          LOOK_EVERY_MS,
          async () => (await parked()).find((each) => each.stream === stream),
          (found) => found !== undefined,
        ),
  )
  .extend('article', ({ readModel: { authors, side, writeSome } }) => async () => {
    const id = await writeSome(authors[0] as UserId);
    await untilProjected(side);
    return { id, stream: `article-${id}` as StreamName };
  })
  .extend(
    'isShown',
    { scope: 'file' },
    ({ readModel: { side } }) =>
      async (id: ArticleId) =>
        (await side.pool.query('select from read_model.articles where id = $1', [id])).rowCount === 1,
  );

test('an item whose stream was cut is parked, until the stream is restored', async ({
  article,
  client,
  isShown,
  readModel,
  untilParked,
}) => {
  const [cut, other] = [await article(), await article()];
  await client.setStreamMetadata(ours(cut.stream), { $tb: 1 });
  expect(await untilParked(cut.stream)).toMatchObject({
    version: 1,
    reason: expect.stringContaining(`stream_cut: stream ${cut.stream} lacks version 1:`),
  });
  expect(await isShown(cut.id)).toBe(false);
  expect(await isShown(other.id)).toBe(true);

  const { findings, parked } = await readModel.verify();
  // No event is left that says whose article it is.
  expect(findings.byKind).toEqual({ stream_cut: 1, derived_extra: 1 });
  expect(findings.listed).toContainEqual(
    expect.objectContaining({ kind: 'derived_extra', table: 'process_manager.member' }),
  );
  expect(parked.listed).toMatchObject([{ stream: cut.stream, version: 1 }]);

  const mending = { ...readModel.side };
  expect(await retry(mending, cut.stream)).toMatchObject({ stream: cut.stream });
  await expect(skipParked(mending, { stream: cut.stream, version: 1 as Version })).rejects.toThrow(
    `restore the stream, then run “projection retry ${cut.stream}”`,
  );
  await client.setStreamMetadata(ours(cut.stream), {});
  expect(await retry(mending, cut.stream)).toBeUndefined();
  expect(await isShown(cut.id)).toBe(true);
  expect((await readModel.verify()).outcome).toBe('proven');
});

test('a limit that cuts a stream later parks its item then', async ({
  article,
  client,
  lookAround,
  parked,
  readModel: { authors, side },
  untilParked,
}) => {
  const { id, stream } = await article();
  await client.setStreamMetadata(ours(stream), { $maxCount: 3 });
  await lookAround.pass(LOOK_EVERY_MS);
  await lookAround.pass(LOOK_EVERY_MS);
  expect(await parked()).toEqual([]);
  await side.send({ type: 'EditArticle', articleId: id, title: 'Once more' }, by(as(authors[0] as UserId)));
  expect(await untilParked(stream)).toMatchObject({ version: 1 });
});

test('a look that fails forgets nothing, and keeps no other item from being parked', async ({
  article,
  begins,
  client,
  lookAround,
  parked,
  standIn,
  untilParked,
}) => {
  const [cut, unreadable] = [await article(), await article()];
  standIn.faults.reads({ kind: 'access-denied' }, { stream: unreadable.stream, times: 1_000_000 });
  for (const { stream } of [cut, unreadable]) await client.setStreamMetadata(ours(stream), { $tb: 1 });
  await lookAround.advanceUntil(
    LOOK_EVERY_MS,
    () => begins.length,
    (looks) => looks > 20,
  );
  await untilParked(cut.stream);
  expect((await parked()).map(({ stream }) => stream)).not.toContain(unreadable.stream);
  standIn.faults.clear();
  await untilParked(unreadable.stream);
  expect(begins).toEqual(begins.toSorted((one, other) => one - other));
});

test('a rebuild keeps the items of cut streams parked, and applies those that were restored', async ({
  article,
  client,
  isShown,
  parked,
  readModel,
  untilParked,
}) => {
  const [cut, restored] = [await article(), await article()];
  await client.tombstoneStream(ours(cut.stream));
  await client.setStreamMetadata(ours(restored.stream), { $maxCount: 1 });
  for (const { stream } of [cut, restored]) await untilParked(stream);
  await client.setStreamMetadata(ours(restored.stream), {});
  await rebuild(readModel.work());
  expect((await parked()).map(({ stream }) => stream)).toContain(cut.stream);
  expect(await isShown(cut.id)).toBe(false);
  expect((await parked()).map(({ stream }) => stream)).not.toContain(restored.stream);
  expect(await isShown(restored.id)).toBe(true);
});

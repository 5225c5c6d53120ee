// Over 200 lines, because it is one list: all that reads a long stream from snapshots, with the same result
// as without.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { EventId, Position, StreamName, Version } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { Caller } from '#shared/policy.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import type { Snapshots } from '#shared/snapshots/snapshots.ts';
import { test as base } from '../../test/engines/backend.ts';
import { as, draftArticle } from '../../test/engines/command-side.ts';
import { untilProjected } from '../../test/engines/projection.ts';
import { until } from '../../testing/until.ts';
import { createPastOpener } from '../time-travel/past.ts';
import { createHistory } from './history.ts';

const LENGTH = 3_000;
const LIMIT = 20;
/**
 * The most that a page and a former state may read: probes, the events after a snapshot, and the page itself.
 */
const READ_MAX = 1_700;

const test = base
  .extend('side', { scope: 'file' }, ({ backend }) => backend.side)
  .extend(
    'appendMany',
    { scope: 'file' },
    ({ author, side }) =>
      async (
        stream: StreamName,
        from: number,
        events: readonly { readonly type: string; readonly data: object }[],
      ) => {
        const { eventLog, codec } = side;
        const context = {
          actor: `user:${author.id}`,
          client: null,
          request: 'test',
          correlation: 'test',
          causation: null,
        } as const;
        for (let done = 0; done < events.length; done += 500) {
          const unencoded = events
            .slice(done, done + 500)
            .map((event) => ({ id: randomUUID() as EventId, event: event as never }));
          const metadata = { ...context, at: new Date(Date.UTC(2026, 0, 1) + done).toISOString() };
          await eventLog.append(
            stream,
            (from + done) as Version,
            await codec.encodeAll(stream, metadata, unencoded),
          );
        }
        await untilProjected(side, 30_000);
      },
  )
  .extend('article', { scope: 'file' }, async ({ appendMany, author, side }) => {
    const article = await draftArticle(side, author.id, false);
    const of = { articleId: article, authorId: author.id };
    const events = Array.from({ length: LENGTH - 1 }, (_, n) => {
      if (n % 400 === 250) return { type: 'article.published', data: of };
      if (n % 400 === 390) return { type: 'article.unpublished', data: of };
      const changes = n === 2_350 ? { body: 'Another body' } : { title: `Title ${n}` };
      return { type: 'article.edited', data: { ...of, ...changes } };
    });
    await appendMany(streamName('article', article), 1, events);
    return article;
  })
  .extend('callers', { scope: 'file' }, ({ admin, author, reader }) => [
    as(author.id),
    as(reader.id, 'reader'),
    as(admin.id, 'admin'),
  ])
  /** Simulates a process that has just started, and counts the events that it reads. */
  .extend('freshProcess', { scope: 'file' }, ({ article, side }) => (snapshots = side.snapshots) => {
    const seen = { read: 0 };
    const eventLog: typeof side.eventLog = {
      ...side.eventLog,
      async *read(stream, from, to) {
        for await (const page of side.eventLog.read(stream, from, to)) {
          seen.read += page.length;
          yield page;
        }
      },
    };
    const options = { ...side, eventLog, snapshots, tables: tablesOf(side.domain) };
    const charge = async () => {};
    return {
      seen,
      page: (
        caller: Caller,
        below: number | undefined,
        of: { kind: string; id: number } = { kind: 'article', id: article },
      ) =>
        createHistory(options)(
          { ...of, caller, charge },
          { below, above: undefined, isUpward: false, limit: LIMIT },
        ),
      was: async (position: Position, kind: string, id: number) =>
        (await createPastOpener(options as never)(position, charge)).find(kind, id),
    };
  })
  .extend('foldsOf', { scope: 'file' }, ({ side }) => async (stream: StreamName) => {
    return (
      await side.pool.query(
        'select fold, count(*) from snapshots.fold where stream = $1 group by fold order by fold',
        [stream],
      )
    ).rows;
  })
  .extend('eventAt', { scope: 'file' }, ({ side }) => async (stream: StreamName, version: number) => {
    const [event] = (
      await Array.fromAsync(side.eventLog.read(stream, version as Version, version as Version))
    ).flat();
    if (event === undefined) throw new Error(`${stream} has no version ${version}`);
    return event;
  });

const NONE: Snapshots = {
  find: async () => undefined,
  save: async () => {},
  discard: async () => {},
  erasedAmong: async () => new Set(),
};

test('every page of a long history has the same contents, and costs one page, wherever it is', async ({
  article,
  author,
  callers,
  foldsOf,
  freshProcess,
}) => {
  // The first request folds the stream and saves snapshots.
  for (const caller of callers) await freshProcess().page(caller, undefined);
  await freshProcess().page(as(author.id), 2_353);
  expect(await foldsOf(streamName('article', article))).toEqual([
    { fold: 'rights', count: 5 },
    { fold: 'row', count: 3 },
  ]);
  for (const below of [undefined, 2_999, 2_353, 1_540, 1_537, 640, 513, 300, 22, 2])
    for (const caller of callers) {
      const { page, seen } = freshProcess();
      const found = await page(caller, below);
      expect(found).toEqual(await freshProcess(NONE).page(caller, below));
      expect(seen.read).toBeLessThan(READ_MAX);
    }
});

test('a change shows its old value, even if that was set long before', async ({ author, freshProcess }) => {
  const { page, seen } = freshProcess();
  const { entries } = await page(as(author.id), 2_353);
  expect(entries[0]?.changes).toEqual([{ field: 'body', from: '', to: 'Another body' }]);
  expect(seen.read).toBeLessThan(READ_MAX);
});

test('a former state is folded from the snapshot before it, with the same result', async ({
  article,
  eventAt,
  freshProcess,
}) => {
  const stream = streamName('article', article);
  await freshProcess().was((await eventAt(stream, LENGTH)).position, 'article', article);
  for (const version of [1, 2, 127, 128, 129, 511, 512, 513, 1_024, 1_500, 2_352, LENGTH - 1, LENGTH]) {
    const { position } = await eventAt(stream, version);
    const { was, seen } = freshProcess();
    const found = await was(position, 'article', article);
    expect(found).toEqual(await freshProcess(NONE).was(position, 'article', article));
    expect(found.row).toMatchObject({ version });
    expect(seen.read).toBeLessThan(READ_MAX);
  }
});

test('a skipped event changes nothing, though snapshots were made before', async ({
  article,
  author,
  side,
  eventAt,
  freshProcess,
}) => {
  const stream = streamName('article', article);
  const { position } = await eventAt(stream, 2_600);
  const body = async () => (await freshProcess().was(position, 'article', article)).row?.body;
  expect(await body()).toBe('Another body');
  await side.pool.query(
    `insert into public.projection_skip (stream, version, position, reason) values ($1, 2352, $2, 'test')`,
    [stream, (await eventAt(stream, 2_352)).position],
  );
  expect(await body()).not.toBe('Another body');
  expect(await freshProcess().page(as(author.id), 2_353)).toEqual(
    await freshProcess(NONE).page(as(author.id), 2_353),
  );
  await side.pool.query('delete from public.projection_skip');
  expect(await body()).toBe('Another body');
});

test('a snapshot of events that the log does not have is ignored', async ({
  article,
  author,
  side,
  eventAt,
  freshProcess,
}) => {
  const stream = streamName('article', article);
  const { position } = await eventAt(stream, 2_700);
  const expected = await freshProcess(NONE).was(position, 'article', article);
  const { snapshots } = side;
  const forged: Snapshots = {
    ...snapshots,
    async find(of, fold, upTo) {
      const found = await snapshots.find(of, fold, upTo);
      return found && { ...found, event: randomUUID() as EventId };
    },
  };
  expect(await freshProcess(forged).was(position, 'article', article)).toEqual(expected);
  expect(await freshProcess(forged).page(as(author.id), 2_700)).toEqual(
    await freshProcess(NONE).page(as(author.id), 2_700),
  );
});

test('after an erasure, snapshots neither contain nor reveal personal data of the user', async ({
  appendMany,
  backend,
  side,
  callers,
  eventAt,
  freshProcess,
  send,
}) => {
  const person = await backend.person('author', 'Grace');
  const stream = streamName('user', person.id);
  await appendMany(
    stream,
    1,
    Array.from({ length: 1_500 }, (_, n) => ({
      type: 'user.updated',
      data: { userId: person.id, name: `Grace ${n}` },
    })),
  );
  const { position } = await eventAt(stream, 900);
  const admin = callers[2] as Caller;
  const user = { kind: 'user', id: person.id };
  expect((await freshProcess().was(position, 'user', person.id)).row).toMatchObject({ name: 'Grace 898' });
  await freshProcess().page(admin, 1_200, user);
  const kept = async () =>
    (await side.pool.query('select from snapshots.fold where $1 = any(persons)', [person.id])).rowCount;
  expect(await kept()).toBeGreaterThan(0);
  await send({ type: 'DeleteUser', userId: person.id }, person);
  await until(kept, (count) => count === 0);
  await untilProjected(side);
  const { was, seen } = freshProcess();
  const found = await was(position, 'user', person.id);
  expect(found).toEqual(await freshProcess(NONE).was(position, 'user', person.id));
  expect(found.row).toMatchObject({ name: null, version: 900 });
  expect(found.departedAt).toBeDefined();
  expect(seen.read).toBeGreaterThan(900);
  // Now without snapshots.
  const again = freshProcess();
  expect(await again.was(position, 'user', person.id)).toEqual(found);
  expect(await freshProcess().page(admin, 1_200, user)).toEqual(
    await freshProcess(NONE).page(admin, 1_200, user),
  );
});

import { randomUUID } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Position, UserId } from '#shared/brands.ts';
import type { Change, ChangeStream } from '#shared/change-stream/change-stream.ts';
import { openPostgresChangeStream } from '#shared/change-stream/postgres/postgres-change-stream.ts';
import { START } from '#shared/event-log/event-log.ts';
import { createMetrics } from '#shared/metrics.ts';
import { type Caller, SCOPES } from '#shared/policy.ts';
import { openReadModelBell } from '#shared/read-model/read-model.ts';
import { startProjector } from '../../projector/service.ts';
import { type CommandSide, createCommandWorld } from '../../test/engines/command-side.ts';
import { appendRaw, untilProjected } from '../../test/engines/projection.ts';
import { until } from '../../test/engines/until.ts';
import { type Cohort, type Feed, openFeed, type Reader } from './feed.ts';

const closing = new AsyncDisposableStack();
let side: CommandSide;
let changes: ChangeStream;
let lastId = 8_000;
beforeAll(async () => {
  side = closing.use(await closing.use(await createCommandWorld()).open());
  const bell = closing.use(openReadModelBell({ url: side.databaseUrl }));
  closing.use(await startProjector({ ...side, bell, log: pino({ level: 'silent' }), metrics: createMetrics() }));
  changes = closing.use(openPostgresChangeStream({ ...side, bell }));
});
afterAll(() => closing.disposeAsync());

const user = (userId: number): Caller => ({
  kind: 'user',
  userId: userId as UserId,
  role: 'author',
  scopes: new Set(SCOPES),
  client: null,
});

/** A draft of somebody's; which one, says its id. */
const write = async (authorId: number): Promise<number> => (await writeAt(authorId)).id;

const writeAt = async (authorId: number): Promise<{ readonly id: number; readonly position: Position }> => {
  lastId += 1;
  const articleId = lastId;
  const data = { articleId, authorId, title: 'T', body: '', tags: [], cover: null };
  const { position } = await appendRaw(side, `article-${articleId}`, { type: 'article.drafted', data, id: randomUUID() as never });
  return { id: articleId, position };
};

const open = (options: Partial<Parameters<typeof openFeed>[0]> = {}): Promise<Feed> =>
  openFeed({ changes, moveOnMs: 20, log: pino({ level: 'silent' }), metrics: createMetrics(), ...options });

const wordOf = ({ data }: Change) => Number(data.articleId);

/** Renders the ids of articles; to their authors with a sign that they are theirs. */
const cohort = (key: string, render?: Cohort['render']): Cohort => ({
  key,
  topics: ['all'],
  render:
    render ??
    (async (change, caller) => {
      await nextTurn();
      const isOwn = caller.kind === 'user' && caller.userId === change.resource.ownerId;
      return Buffer.from(`${wordOf(change)}${isOwn ? ' own' : ''}\n`);
    }),
});

/** A reader that writes down what it is told, and takes its time where it is asked to. */
const createReader = (feed: Feed, { after, by = user(1), of = cohort('all'), slow = false, takesSeveral = false }: ReaderOptions) => {
  const heard: string[] = [];
  const positions: Position[] = [];
  let place: Position | undefined = after === 'now' ? undefined : after;
  let failure: unknown;
  const reader: Reader = {
    cohort: of,
    caller: by,
    after,
    takesSeveral,
    send(message, position) {
      heard.push(...linesIn(message));
      positions.push(position);
      place = position;
      return slow ? delay(1) : undefined;
    },
    moveOn(position) {
      expect(position).toBeGreaterThanOrEqual(place ?? START);
      place = position;
    },
    fail(error) {
      failure = error;
    },
  };
  const membership = feed.join(reader);
  return { heard, positions, place: () => place, failure: () => failure, leave: () => membership[Symbol.dispose]() };
};
type ReaderOptions = { after: Position | 'now'; by?: Caller; of?: Cohort; slow?: boolean; takesSeveral?: boolean };

const linesIn = (message: Buffer): readonly string[] => message.toString().trimEnd().split('\n');

const headNow = () => side.eventLog.head();
const settled = (reader: ReturnType<typeof createReader>, count: number) =>
  until(
    () => reader.heard.length,
    (seen) => seen >= count,
  );

test('a reader hears of what comes, and one of the past too, each change once and in order', async () => {
  const [first, second] = [await write(1), await write(2)];
  await untilProjected(side);
  await using feed = await open();
  const start = feed.upTo;
  const all = createReader(feed, { after: START });
  const fresh = createReader(feed, { after: 'now' });
  const third = await write(3);
  await settled(all, 3);
  await settled(fresh, 1);
  expect(all.heard).toEqual([`${first} own`, `${second}`, `${third}`]);
  expect(fresh.heard).toEqual([`${third}`]);
  expect(fresh.positions[0]).toBeGreaterThan(start);
});

test('those who want the same get it rendered once, and those whom it concerns once more', async () => {
  const rendered: string[] = [];
  const of = cohort('counted', async (change, caller) => {
    const who = caller.kind === 'user' ? caller.userId : caller.kind;
    rendered.push(`${wordOf(change)} for ${who}`);
    return Buffer.from(`${who}`);
  });
  await using feed = await open();
  const start = feed.upTo;
  const readers = [1, 2, 2, 3].map((id) => createReader(feed, { after: 'now', by: user(id), of }));
  const id = await write(2);
  for (const reader of readers) await settled(reader, 1);
  expect(readers.map(({ heard }) => heard)).toEqual([['0'], ['2'], ['2'], ['0']]);
  // Whoever comes back at once gets what is there.
  await settled(createReader(feed, { after: start, by: user(4), of }), 1);
  expect(rendered.toSorted()).toEqual([`${id} for 0`, `${id} for 2`]);
});

test('only those whom a change is about are asked to render it, and the others move on', async () => {
  await using feed = await open();
  const rendered: number[] = [];
  const of: Cohort = {
    ...cohort('one'),
    topics: [`article:${lastId + 2}`, 'type:article.deleted'],
    async render(change) {
      rendered.push(wordOf(change));
      return Buffer.from('x');
    },
  };
  const reader = createReader(feed, { after: 'now', of });
  const [, wanted] = [await write(2), await write(2), await write(2)];
  await settled(reader, 1);
  const head = await headNow();
  await until(reader.place, (place) => (place ?? 0) >= head);
  expect(rendered).toEqual([wanted]);
});

test('who catches up with others of the same kind is told how far they are, though nothing comes for them', async () => {
  await using feed = await open();
  const of: Cohort = { ...cohort('idle'), topics: ['type:article.deleted'] };
  const live = createReader(feed, { after: 'now', of });
  const start = feed.upTo;
  await write(2);
  const head = await headNow();
  await until(live.place, (place) => (place ?? 0) >= head);
  const later = createReader(feed, { after: start, of });
  await until(later.place, (place) => (place ?? 0) >= head);
});

test('a cohort that renders slowly, or not at all, holds up nobody else', async () => {
  await using feed = await open();
  const never = createReader(feed, { after: 'now', of: cohort('never', () => new Promise(() => {})) });
  const failing = createReader(feed, { after: 'now', of: cohort('failing', () => Promise.reject(new Error('no way'))) });
  const fine = createReader(feed, { after: 'now' });
  const ids = [await write(2), await write(2), await write(2)];
  await settled(fine, 3);
  expect(fine.heard).toEqual(ids.map(String));
  expect(never.heard).toEqual([]);
  expect(failing.failure()).toMatchObject({ message: 'no way' });
  expect(failing.heard).toEqual([]);
});

test('a change that comes while the last of the past is rendered is not lost', async () => {
  await using feed = await open();
  const untilHeard = async () => {
    const head = await headNow();
    await until(
      () => feed.upTo,
      (upTo) => upTo >= head,
    );
  };
  const start = feed.upTo;
  const ids = [await write(2)];
  await untilHeard();
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const of = cohort('gated', async (change) => {
    begun.resolve();
    await gate.promise;
    return Buffer.from(`${wordOf(change)}`);
  });
  const reader = createReader(feed, { after: start, of });
  await begun.promise;
  ids.push(await write(2));
  await untilHeard();
  gate.resolve();
  await settled(reader, 2);
  expect(reader.heard).toEqual(ids.map(String));
});

test('whoever has left is not called again', async () => {
  await using feed = await open();
  const [staying, leaving] = [createReader(feed, { after: 'now' }), createReader(feed, { after: 'now' })];
  await write(2);
  await settled(leaving, 1);
  leaving.leave();
  await write(2);
  await settled(staying, 2);
  expect(leaving.heard).toHaveLength(1);
});

/** What somebody does while changes come. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      write: fc.integer({ min: 1, max: 3 }),
      times: fc.integer({ min: 1, max: 6 }),
      pauseMs: fc.constantFrom(0, 1, 4),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      join: fc.integer({ min: 1, max: 12 }),
      slow: fc.boolean(),
      takesSeveral: fc.boolean(),
      group: fc.constantFrom('a', 'b'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ leave: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ wait: fc.constantFrom(0, 5, 30) }) },
);

/** Who follows, over all its connections. */
type Follower = {
  readonly options: Omit<ReaderOptions, 'after'>;
  readonly userId: number;
  readonly from: Position;
  readonly heard: string[];
  readonly positions: Position[];
  current: ReturnType<typeof createReader> | undefined;
  place: Position;
};

test('readers that join, leave, and resume at any time have heard exactly the contiguous sequence', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), fc.constantFrom(2, 5, 10_000), async (steps, changesMax) => {
      // Where the ring is small, most of what is resumed comes from the log.
      await using feed = await open({ moveOnMs: 3, ringLimits: { changesMax, bytesMax: 1_000_000 } });
      const start = await headNow();
      const followers: Follower[] = [];
      const connect = (follower: Follower) => {
        follower.current = createReader(feed, { after: follower.place, ...follower.options });
      };
      const disconnect = (follower: Follower) => {
        const { current } = follower;
        if (current === undefined) return;
        current.leave();
        expect(current.failure()).toBeUndefined();
        follower.heard.push(...current.heard);
        follower.positions.push(...current.positions);
        follower.place = current.place() ?? follower.place;
        follower.current = undefined;
      };
      const written: { readonly position: Position; readonly id: number; readonly authorId: number }[] = [];
      let writing = Promise.resolve();
      for (const each of steps) {
        if ('write' in each) {
          // One after the other, while what comes next is done already.
          writing = writing.then(async () => {
            for (let count = 0; count < each.times; count += 1) {
              written.push({ ...(await writeAt(each.write)), authorId: each.write });
              // So that they are heard one by one, some of them while somebody catches up.
              await delay(each.pauseMs);
            }
          });
        } else if ('join' in each) {
          const from = written.at(-each.join)?.position ?? start;
          const options = { by: user(1 + (each.join % 4)), of: cohort(each.group), slow: each.slow, takesSeveral: each.takesSeveral };
          const follower: Follower = {
            options,
            userId: 1 + (each.join % 4),
            from,
            heard: [],
            positions: [],
            current: undefined,
            place: from,
          };
          followers.push(follower);
          connect(follower);
        } else if ('leave' in each) {
          const follower = followers[each.leave % Math.max(1, followers.length)];
          if (follower?.current) disconnect(follower);
          else if (follower) connect(follower);
        } else await delay(each.wait);
        await delay(1);
      }
      for (const follower of followers) if (follower.current === undefined) connect(follower);
      await writing;
      const head = await headNow();
      for (const { current } of followers)
        await until(
          () => current?.place() ?? START,
          (place) => place >= head,
        );
      for (const follower of followers) {
        disconnect(follower);
        const expected = written.filter(({ position }) => position > follower.from);
        // Some of them only at the last of those that came together.
        const positions = new Set(follower.positions);
        const heardAt = expected
          .map(({ position }) => position)
          .filter((position) => !follower.options.takesSeveral || positions.has(position));
        expect(follower.positions).toEqual(heardAt);
        expect(follower.heard).toEqual(expected.map(({ id, authorId }) => `${id}${authorId === follower.userId ? ' own' : ''}`));
      }
    }),
    { numRuns: Number(process.env.WALKS ?? 50) },
  );
}, 120_000);

test('a cohort that has fallen behind by more than its queue catches up by itself, with nothing lost', async () => {
  const gate = Promise.withResolvers<void>();
  await using feed = await open({ ringLimits: { changesMax: 50, bytesMax: 1_000_000 } });
  const of = cohort('stalled', async (change) => {
    await gate.promise;
    return Buffer.from(`${wordOf(change)}`);
  });
  const readers = [createReader(feed, { after: 'now', of }), createReader(feed, { after: 'now', of })];
  const start = feed.upTo;
  const ids: number[] = [];
  for (let batch = 0; batch < 21; batch += 1) ids.push(...(await Promise.all(Array.from({ length: 100 }, () => write(9)))));
  const head = await headNow();
  await until(
    () => feed.upTo,
    (upTo) => upTo >= head,
    60_000,
  );
  gate.resolve();
  for (const reader of readers) {
    await until(
      () => reader.heard.length,
      (seen) => seen >= ids.length,
      60_000,
    );
    expect(reader.failure()).toBeUndefined();
    expect(new Set(reader.heard)).toEqual(new Set(ids.map(String)));
    expect(reader.heard).toHaveLength(ids.length);
    expect(reader.positions).toEqual(reader.positions.toSorted((one, other) => one - other));
    expect(reader.positions[0]).toBeGreaterThan(start);
  }
}, 120_000);

import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import { START } from '#shared/event-log/event-log.ts';
import {
  cohort,
  createReader,
  type FeedFixture,
  openFeedFixture,
  type ReaderOptions,
  type TestReader,
  user,
} from '../../test/engines/feed-fixture.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import type { Feed } from './feed.ts';

/** The steps of readers while changes arrive. */
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

type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

/** A subscriber across all its connections. */
type Follower = {
  readonly options: Omit<ReaderOptions, 'after'>;
  readonly userId: number;
  readonly from: Position;
  readonly received: string[];
  readonly positions: Position[];
  current: TestReader | undefined;
  position: Position;
};

const connect = (feed: Feed, follower: Follower): void => {
  follower.current ??= createReader(feed, { after: follower.position, ...follower.options });
};

const disconnect = (follower: Follower): void => {
  const { current } = follower;
  if (current === undefined) return;
  current.leave();
  expect(current.failure()).toBeUndefined();
  follower.received.push(...current.received);
  follower.positions.push(...current.positions);
  follower.position = current.position() ?? follower.position;
  follower.current = undefined;
};

type Written = { readonly position: Position; readonly id: number; readonly authorId: number };
type Walked = { readonly followers: readonly Follower[]; readonly written: readonly Written[] };

const walk = async (feeds: FeedFixture, feed: Feed, steps: readonly Step[]): Promise<Walked> => {
  const start = await feeds.head();
  const followers: Follower[] = [];
  const written: Written[] = [];
  let writing = Promise.resolve();
  const write = async ({
    write: authorId,
    times,
    pauseMs,
  }: Extract<Step, { write: number }>): Promise<void> => {
    for (let count = 0; count < times; count += 1) {
      const draft = await feeds.writeAt(authorId);
      written.push({ ...draft, authorId });
      // So that changes arrive one by one, some of them while a reader catches up.
      await delay(pauseMs);
    }
  };
  const join = ({ join: back, group, slow, takesSeveral }: Extract<Step, { join: number }>): void => {
    const from = written.at(-back)?.position ?? start;
    const userId = 1 + (back % 4);
    const options = { by: user(userId), of: cohort(group), slow, takesSeveral };
    followers.push({
      options,
      userId,
      from,
      received: [],
      positions: [],
      current: undefined,
      position: from,
    });
  };
  for (const each of steps) {
    // Writes run one after the other, while the following steps are taken already.
    if ('write' in each) writing = writing.then(() => write(each));
    else if ('join' in each) {
      join(each);
      connect(feed, followers.at(-1) as Follower);
    } else if ('leave' in each) {
      const follower = followers[each.leave % Math.max(1, followers.length)];
      if (follower?.current) disconnect(follower);
      else if (follower) connect(feed, follower);
    } else await delay(each.wait);
    await delay(1);
  }
  for (const follower of followers) connect(feed, follower);
  await writing;
  return { followers, written };
};

const expectContiguous = (
  { options, userId, from, received, positions }: Follower,
  written: readonly Written[],
): void => {
  const expected = written.filter(({ position }) => position > from);
  // Some readers get only the last position of several changes sent together.
  const told = new Set(positions);
  const places = expected
    .map(({ position }) => position)
    .filter((position) => !options.takesSeveral || told.has(position));
  expect(positions).toEqual(places);
  expect(received).toEqual(expected.map(({ id, authorId }) => `${id}${authorId === userId ? ' own' : ''}`));
};

test(
  'readers that join, leave and resume at any time receive exactly the contiguous sequence',
  async () => {
    await using feeds = await openFeedFixture();
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 40 }),
        fc.constantFrom(2, 5, 10_000),
        async (steps, changesMax) => {
          // With a small ring, most resumed changes come from the log.
          await using feed = await feeds.open({
            moveOnMs: 3,
            ringLimits: { changesMax, bytesMax: 1_000_000 },
          });
          const { followers, written } = await walk(feeds, feed, steps);
          const head = await feeds.head();
          for (const { current } of followers)
            await until(
              () => current?.position() ?? START,
              (position) => position >= head,
              60_000,
            );
          for (const follower of followers) {
            disconnect(follower);
            expectContiguous(follower, written);
          }
        },
      ),
      // Puts the cause into the message, where it is seen first.
      { numRuns: Number(process.env.WALKS ?? 50), includeErrorInReport: true },
    );
  },
  scaled(120_000),
);

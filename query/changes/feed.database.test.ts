import { afterAll, beforeAll, expect, test } from 'vitest';
import { START } from '#shared/event-log/event-log.ts';
import {
  cohort,
  createReader,
  type FeedFixture,
  openFeedFixture,
  user,
  wordOf,
} from '../../test/engines/feed-fixture.ts';
import { until } from '../../testing/until.ts';
import type { Cohort } from './renderings.ts';

let feeds: FeedFixture;
beforeAll(async () => {
  feeds = await openFeedFixture();
});
afterAll(() => feeds?.[Symbol.asyncDispose]());

test('new and past changes arrive once and in order', async () => {
  const [first, second] = [await feeds.write(1), await feeds.write(2)];
  await feeds.untilProjected();
  await using feed = await feeds.open();
  const start = feed.upTo;
  const all = createReader(feed, { after: START });
  const fresh = createReader(feed, { after: 'now' });
  const third = await feeds.write(3);
  await all.untilReceived(3);
  await fresh.untilReceived(1);
  expect(all.received).toEqual([`${first} own`, `${second}`, `${third}`]);
  expect(fresh.received).toEqual([`${third}`]);
  expect(fresh.positions[0]).toBeGreaterThan(start);
});

test('a cohort shares one rendering, and each caller that the change concerns gets one of its own', async () => {
  const rendered: string[] = [];
  const of = cohort('counted', async (change, caller) => {
    const who = caller.kind === 'user' ? caller.userId : caller.kind;
    rendered.push(`${wordOf(change)} for ${who}`);
    return Buffer.from(`${who}`);
  });
  await using feed = await feeds.open();
  const start = feed.upTo;
  const readers = [1, 2, 2, 3].map((id) => createReader(feed, { after: 'now', by: user(id), of }));
  const id = await feeds.write(2);
  for (const reader of readers) await reader.untilReceived(1);
  expect(readers.map(({ received }) => received)).toEqual([['0'], ['2'], ['2'], ['0']]);
  // A reader that comes back at once shares what is rendered.
  await createReader(feed, { after: start, by: user(4), of }).untilReceived(1);
  expect(rendered.toSorted()).toEqual([`${id} for 0`, `${id} for 2`]);
});

test('only cohorts with a topic of the change render it, and the others move on', async () => {
  await using feed = await feeds.open();
  const rendered: number[] = [];
  const of: Cohort = {
    ...cohort('one'),
    topics: [`article:${feeds.nextId() + 1}`, 'type:article.deleted'],
    async render(change) {
      rendered.push(wordOf(change));
      return Buffer.from('x');
    },
  };
  const reader = createReader(feed, { after: 'now', of });
  const [, wanted] = [await feeds.write(2), await feeds.write(2), await feeds.write(2)];
  await reader.untilReceived(1);
  const head = await feeds.head();
  await until(reader.position, (position) => (position ?? 0) >= head);
  expect(rendered).toEqual([wanted]);
});

test('a reader that catches up with others of its cohort learns its position, though it receives nothing', async () => {
  await using feed = await feeds.open();
  const of: Cohort = { ...cohort('idle'), topics: ['type:article.deleted'] };
  const live = createReader(feed, { after: 'now', of });
  const start = feed.upTo;
  await feeds.write(2);
  const head = await feeds.head();
  await until(live.position, (position) => (position ?? 0) >= head);
  const later = createReader(feed, { after: start, of });
  await until(later.position, (position) => (position ?? 0) >= head);
});

test('a reader that has left is not called again', async () => {
  await using feed = await feeds.open();
  const [staying, leaving] = [createReader(feed, { after: 'now' }), createReader(feed, { after: 'now' })];
  await feeds.write(2);
  await leaving.untilReceived(1);
  leaving.leave();
  await feeds.write(2);
  await staying.untilReceived(2);
  expect(leaving.received).toHaveLength(1);
});

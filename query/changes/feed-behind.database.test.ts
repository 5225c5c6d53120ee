import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  cohort,
  createReader,
  type FeedFixture,
  openFeedFixture,
  wordOf,
} from '../../test/engines/feed-fixture.ts';
import { scaled } from '../../testing/load.ts';

let feeds: FeedFixture;
beforeAll(async () => {
  feeds = await openFeedFixture();
});
afterAll(() => feeds?.[Symbol.asyncDispose]());

test('a cohort that renders slowly, or not at all, delays no other', async () => {
  await using feed = await feeds.open();
  const never = createReader(feed, { after: 'now', of: cohort('never', () => new Promise(() => {})) });
  const failing = createReader(feed, {
    after: 'now',
    of: cohort('failing', () => Promise.reject(new Error('no way'))),
  });
  const fine = createReader(feed, { after: 'now' });
  const ids = [await feeds.write(2), await feeds.write(2), await feeds.write(2)];
  await fine.untilReceived(3);
  expect(fine.received).toEqual(ids.map(String));
  expect(never.received).toEqual([]);
  expect(failing.failure()).toMatchObject({ message: 'no way' });
  expect(failing.received).toEqual([]);
});

test('a change that arrives while the last page of the past is rendered is not lost', async () => {
  await using feed = await feeds.open();
  const start = feed.upTo;
  const ids = [await feeds.write(2)];
  await feeds.untilRead(feed);
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const of = cohort('gated', async (change) => {
    begun.resolve();
    await gate.promise;
    return Buffer.from(`${wordOf(change)}`);
  });
  const reader = createReader(feed, { after: start, of });
  await begun.promise;
  ids.push(await feeds.write(2));
  await feeds.untilRead(feed);
  gate.resolve();
  await reader.untilReceived(2);
  expect(reader.received).toEqual(ids.map(String));
});

test(
  'a cohort with more changes waiting than its queue holds catches up by itself and loses nothing',
  async () => {
    const gate = Promise.withResolvers<void>();
    await using feed = await feeds.open({ ringLimits: { changesMax: 50, bytesMax: 1_000_000 } });
    const of = cohort('stalled', async (change) => {
      await gate.promise;
      return Buffer.from(`${wordOf(change)}`);
    });
    const readers = [createReader(feed, { after: 'now', of }), createReader(feed, { after: 'now', of })];
    const start = feed.upTo;
    const ids: number[] = [];
    for (let batch = 0; batch < 21; batch += 1)
      ids.push(...(await Promise.all(Array.from({ length: 100 }, () => feeds.write(9)))));
    await feeds.untilRead(feed);
    gate.resolve();
    for (const reader of readers) {
      await reader.untilReceived(ids.length);
      expect(reader.failure()).toBeUndefined();
      expect(new Set(reader.received)).toEqual(new Set(ids.map(String)));
      expect(reader.received).toHaveLength(ids.length);
      expect(reader.positions).toEqual(reader.positions.toSorted((one, other) => one - other));
      expect(reader.positions[0]).toBeGreaterThan(start);
    }
  },
  scaled(120_000),
);

import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import { type Watch, watchesOf } from '#kernel/visibility/watches.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { Histories } from './histories.ts';
import { fixedIn, type Seen, stateBefore } from './history.ts';

const stream = 'article-8' as StreamName;
const data = { articleId: 8, authorId: 7 };
const at = (position: number) => position as Position;
const span = (after: number, upTo: number) => ({ after: at(after), upTo: at(upTo) });

/**
 * The stream of one article by the positions of its events. A gate holds back the result of each read until
 * the test opens it.
 */
const createStream = () => {
  const events: RecordedEvent[] = [];
  const gates: (() => void)[] = [];
  const state = { isGated: false, reads: 0, events: 0 };
  const eventLog: Pick<EventLog, 'read'> = {
    async *read(_, from = 1 as Version) {
      state.reads += 1;
      const page = events.filter(({ version }) => version >= from);
      state.events += page.length;
      if (state.isGated) await new Promise<void>((resolve) => gates.push(resolve));
      yield page;
    },
  };
  const happens = (type: string, position: number) => {
    // Nothing else of an event is read.
    const event = {
      stream,
      type: `article.${type}`,
      position: at(position),
      version: events.length + 1,
      data,
    } as unknown as RecordedEvent;
    events.push(event);
    return { event, clear: { data } as unknown as Seen['clear'] };
  };
  const letThrough = () => gates.splice(0).forEach((open) => void open());
  const histories = new Histories({
    eventLog,
    catalogue: catalogueOf(publishing),
    watches: watchesOf(publishing),
  });
  return { histories, happens, state, letThrough };
};

/** The status of the article just before a position that was already applied. */
const statusAt = async (histories: Histories, position: number) => {
  const found = await histories.find(new Map([[stream, span(position - 1, position)]]));
  const history = found.get(stream);
  return history && stateBefore(history, at(position))?.status;
};

test('a change between two positions is not skipped', async () => {
  const { histories, happens, state } = createStream();
  await histories.take([happens('drafted', 1), happens('published', 2)], span(0, 10));
  happens('unpublished', 15);
  await histories.take([], span(20, 30));
  expect(await statusAt(histories, 25)).toBe('draft');
  expect(state.reads).toBe(1);
});

test('a follower that lags does not hide later changes', async () => {
  const { histories, happens, state } = createStream();
  const published = happens('published', 5);
  happens('unpublished', 15);
  // Another follower is further ahead, and its history of the article was evicted.
  await histories.take([], span(0, 20));
  await histories.take([published], span(4, 6));
  expect(await statusAt(histories, 18)).toBe('draft');
  expect(state.reads).toBe(1);
});

test('a read that began before an event does not hide it', async () => {
  const { histories, happens, state, letThrough } = createStream();
  happens('drafted', 1);
  happens('published', 2);
  await histories.take([], span(4, 5));
  state.isGated = true;
  const early = statusAt(histories, 5);
  const taking = histories.take([happens('unpublished', 6)], span(5, 6));
  letThrough();
  expect(await early).toBe('published');
  await taking;
  await histories.take([], span(6, 7));
  expect(await statusAt(histories, 7)).toBe('draft');
  expect(state.reads).toBe(1);
});

test('a read that began before another follower moved ahead is not shared with it', async () => {
  const { histories, happens, state, letThrough } = createStream();
  happens('drafted', 1);
  happens('published', 2);
  await histories.take([], span(4, 5));
  state.isGated = true;
  const early = statusAt(histories, 5);
  happens('unpublished', 6);
  await histories.take([], span(10, 11));
  const later = statusAt(histories, 11);
  state.isGated = false;
  letThrough();
  expect(await early).toBe('published');
  expect(await later).toBe('draft');
  expect(state.reads).toBe(2);
});

test('a deleted aggregate never changes, so its stream is not read again', async () => {
  const { histories, happens, state } = createStream();
  await histories.take([happens('drafted', 1), happens('deleted', 2)], span(0, 10));
  await histories.take([], span(20, 30));
  // Only the owner is left of its state.
  expect(await statusAt(histories, 25)).toBe(null);
  expect(state.reads).toBe(0);
});

test('of a stream that has grown, only the new events are read', async () => {
  const { histories, happens, state } = createStream();
  happens('drafted', 1);
  happens('published', 2);
  expect(await statusAt(histories, 3)).toBe('published');
  happens('unpublished', 4);
  expect(await statusAt(histories, 5)).toBe('draft');
  expect(await statusAt(histories, 3)).toBe('published');
  expect([state.reads, state.events]).toEqual([2, 3]);
});

test('a caller reads by itself if the shared read runs out of budget', async () => {
  const { histories, happens } = createStream();
  happens('drafted', 1);
  happens('published', 2);
  const refused = Promise.withResolvers<never>();
  const poor: Pick<EventLog, 'read'> = {
    // biome-ignore lint/correctness/useYield: it is refused its first page.
    async *read() {
      await refused.promise;
    },
  };
  const wanted = new Map([[stream, span(2, 3)]]);
  const first = histories.find(wanted, poor);
  const second = histories.find(wanted);
  refused.reject(new Error('too many requests'));
  await expect(first).rejects.toThrow('too many requests');
  expect((await second).get(stream)?.version).toBe(2);
});

test('an owner who never changes may be absent', () => {
  const watch = { ...watchesOf(publishing).get('article'), fixed: [['lead', 'leadId']] } as Watch;
  expect(fixedIn(watch, { leadId: 7 })).toEqual({ lead: 7 });
  expect(fixedIn(watch, { leadId: null })).toEqual({ lead: null });
  expect(fixedIn(watch, { leadId: '7' })).toEqual({});
});

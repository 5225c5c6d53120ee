import { createCollection } from '@tanstack/db';
import { expect, test } from 'vitest';
import { createCopy, type Row, type Sink } from './copy.ts';
import { hasReached, isOfLostCursor, laterOf } from './cursors.ts';

type Item = { readonly id: number; readonly title: string };

const open = (limit = 10) => {
  const copy = createCopy({ limit, isSame: (one, other) => JSON.stringify(one) === JSON.stringify(other) });
  let sink: Sink | undefined;
  const collection = createCollection<Item, number>({
    getKey: ({ id }) => id,
    startSync: true,
    sync: {
      rowUpdateMode: 'full',
      sync(parameters) {
        sink = copy.start(parameters as never);
        return () => copy.stop();
      },
    },
  });
  const titles = () => collection.toArray.map(({ id, title }) => `${id} ${title}`);
  const events: string[] = [];
  collection.subscribeChanges((changes) => {
    events.push(changes.map(({ type, key }) => `${type} ${key}`).join(', '));
  });
  return { copy, collection, sink: sink as Sink, titles, events };
};
const rows = (...titles: readonly string[]): ReadonlyMap<number, Row> =>
  new Map(titles.map((title, index) => [index + 1, { id: index + 1, title }]));
const as = (cursor: string, isReset = false) => ({ cursor, isReset, isComplete: true });

test('a list that is read again changes only what differs, in one transaction', () => {
  const { sink, titles, events } = open();
  sink.replace(rows('a', 'b', 'c'), as('log-1'));
  events.length = 0;
  sink.replace(rows('a', 'B'), as('log-2'));
  expect(titles()).toEqual(['1 a', '2 B']);
  expect(events).toEqual(['delete 3, update 2']);
});

test('after a reset nobody sees a part of the rows', () => {
  const { collection, sink } = open();
  sink.replace(rows('a', 'b'), as('log-5'));
  const sizes = new Set<number>();
  collection.subscribeChanges(() => {
    sizes.add(collection.size);
  });
  sink.replace(rows('x', 'y', 'z'), as('new-1', true));
  expect(sizes).toEqual(new Set([3]));
});

test('changes of one moment are one transaction, whose cursor counts from then on', async () => {
  const { copy, sink, titles, events } = open();
  sink.replace(rows('a'), as('log-1'));
  events.length = 0;
  sink.change(1, { id: 1, title: 'A' });
  sink.change(2, { id: 2, title: 'b' });
  sink.moved('log-2');
  expect(copy.connection().cursor).toBe('log-1');
  expect(await copy.reached('log-2', 5_000)).toBe(true);
  expect(titles()).toEqual(['1 A', '2 b']);
  expect(events).toEqual(['update 1, insert 2']);
});

test('more rows than the limit are left out, and the collection says so', async () => {
  const { copy, sink, titles } = open(1);
  sink.replace(rows('a'), as('log-1'));
  sink.change(2, { id: 2, title: 'b' });
  sink.change(1, { id: 1, title: 'A' });
  sink.moved('log-2');
  await copy.reached('log-2', 5_000);
  expect([titles(), copy.connection().isComplete]).toEqual([['1 A'], false]);
});

test('a refused list is empty, and nobody waits for it', async () => {
  const { collection, copy, sink } = open();
  sink.replace(rows('a'), as('log-1'));
  const waiting = copy.reached('log-9', 60_000);
  sink.refused(new Error('no'));
  expect([collection.size, await waiting, copy.connection().state]).toEqual([0, false, 'refused']);
  await collection.cleanup();
  expect(await copy.reached('log-9', 60_000)).toBe(false);
});

test('cursors are compared by their position, in the same log', () => {
  expect(hasReached('log-z', 'log-10')).toBe(false);
  expect(hasReached('log-10.stamp', 'log-z-0b7c')).toBe(true);
  expect(hasReached('other-1', 'log-5')).toBe(true);
  expect(hasReached(undefined, 'log-5')).toBe(false);
  expect([laterOf('log-2', 'log-10'), laterOf(undefined, 'log-1'), laterOf('log-1', undefined)]).toEqual([
    'log-10',
    'log-1',
    'log-1',
  ]);
  expect([isOfLostCursor({ code: 'unknown_cursor' }), isOfLostCursor(new Error('no'))]).toEqual([
    true,
    false,
  ]);
});

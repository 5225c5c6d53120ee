import { expect, test } from 'vitest';
import type { FieldFacts } from '../../domain-facts.ts';
import { filteredHere, narrowed, narrowingIn, nextOrder } from './short-lists.ts';

const field = (name: string, type: FieldFacts['type']): FieldFacts => ({
  ...{ name, wire: name, title: name, type },
});

const STATUS = field('status', 'states');
const FIELDS = [
  field('title', 'text'),
  field('total', 'integer'),
  field('day', 'date'),
  field('owner', 'ref'),
  field('tags', 'set'),
  field('picture', 'upload'),
  STATUS,
];
const KIND = { fields: FIELDS, list: { hasSearch: false, filters: [STATUS], sorts: [] } };

const ITEMS = [
  { id: 1, title: 'Item 10', total: 7, day: '2026-02-01', owner: { id: 8, name: 'Bo' }, tags: ['red'] },
  { id: 2, title: 'Item 9', total: 12, day: null, owner: { id: 9, name: 'Ada' }, tags: [] },
  { id: 3, title: 'item 9', total: 7, day: '2026-01-31', owner: null, tags: ['Blue', 'red'] },
];

const ids = (query: string): readonly number[] => {
  const narrowing = narrowingIn(KIND, new URLSearchParams(query));
  return (narrowing === undefined ? ITEMS : narrowed(ITEMS, narrowing)).map(({ id }) => id);
};

test('every field but files can be filtered by, by the browser if not by the server', () => {
  expect(filteredHere(KIND).map(({ name }) => name)).toEqual(['title', 'total', 'day', 'owner', 'tags']);
  expect(narrowingIn(KIND, new URLSearchParams('status=open&sort=-total'))).toBeUndefined();
});

test.each([
  ['here.title=ITEM+9', [2, 3]],
  ['here.total=7', [1, 3]],
  ['here.total=1', []],
  ['here.day=2026-01', [3]],
  ['here.owner=9', [2]],
  ['here.tags=blue', [3]],
  ['here.total=7&here.tags=red&here=-id', [3, 1]],
  ['here.nothing=7', [1, 2, 3]],
])('the items for %s', (query, expected) => {
  expect(ids(query)).toEqual(expected);
});

test.each([
  ['title', [2, 3, 1]],
  ['-total', [2, 1, 3]],
  ['total', [1, 3, 2]],
  ['day', [3, 1, 2]],
  ['-day', [1, 3, 2]],
  ['owner', [2, 1, 3]],
  ['tags', [3, 1, 2]],
])('the order by %s, without a value last', (order, expected) => {
  expect(ids(`here=${order}`)).toEqual(expected);
});

test('a head asks for upwards, downwards, and none', () => {
  expect(['', 'total', '-total', 'day'].map((order) => nextOrder('total', order))).toEqual([
    ...['total', '-total', '', 'total'],
  ]);
});

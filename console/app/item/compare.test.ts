import { expect, test } from 'vitest';
import { differing } from './compare.ts';

test('versions differ in unequal fields, and a null equals an absent field', () => {
  const one = { id: 1, title: 'One', tags: ['a'], note: null, updatedAt: '1', _links: {} };
  const other = { id: 1, title: 'Two', tags: ['a'], updatedAt: '2', _links: { self: { href: '/' } } };
  expect(differing(one, other)).toEqual(['title']);
  expect(differing(one, { ...one, tags: ['b'], note: 'There' })).toEqual(['tags', 'note']);
});

import { expect, test } from 'vitest';
import { fileLinks } from './links.ts';

test.each([
  [true, 'a.png', ['photo', 'unphoto']],
  [true, null, ['photo']],
  [false, 'a.png', ['photo']],
])('of a file that is optional: %s, with the value %s, the links are %j', (optional, value, rels) =>
  expect(Object.keys(fileLinks('photo', { optional }, ['/notes/1', value]))).toEqual(rels),
);

import { expect, test } from 'vitest';
import { integer } from './fields.ts';

test.each([
  [0, 2 ** 31 - 1, 'Int'],
  [0, 2 ** 31, 'Float'],
  [-(2 ** 31), 0, 'Float'],
  [Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER + 9, 'Float'],
])('an integer from %i to %i is of the type %s in GraphQL', (min, max, type) => {
  expect(integer(min, max).def.graphql).toBe(type);
});

import { expect, test } from 'vitest';
import { lettersOf } from './actions.ts';

test('each name has its own letter, until the letters run out', () => {
  expect(lettersOf(['Overview', 'Orders', 'Proof', 'Parked', 'O'])).toEqual(['o', 'r', 'p', 'a', undefined]);
});

import { expect, test } from 'vitest';
import { lettersOf } from './actions.ts';

test('each name has its own letter, until the letters run out', () => {
  expect(lettersOf(['Overview', 'Operator commands', 'Proof', 'Parked', 'O'])).toEqual([
    'o',
    'e',
    'p',
    'a',
    undefined,
  ]);
});

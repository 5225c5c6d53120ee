import { expect, test } from 'vitest';
import { lettersOf } from './actions.ts';

test('each name has a letter of its own, as long as there are any', () => {
  expect(lettersOf(['Overview', 'Orders', 'Proof', 'Parked', 'O'])).toEqual(['o', 'r', 'p', 'a', undefined]);
});

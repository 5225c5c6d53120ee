import { expect, test } from 'vitest';
import { faultsOf } from './sequence.ts';

const EXPECTED = ['1', '2', '3', '4'];

test.each<[string, readonly string[], readonly string[]]>([
  ['the same sequence', ['1', '2', '3', '4'], []],
  ['nothing', [], ['lost: 1', 'lost: 2', 'lost: 3', 'lost: 4']],
  ['a loss at the beginning', ['2', '3', '4'], ['lost: 1']],
  ['a loss in the middle', ['1', '3', '4'], ['lost: 2']],
  ['a loss at the end', ['1', '2', '3'], ['lost: 4']],
  ['an immediate repetition', ['1', '2', '2', '3', '4'], ['repeated: 2']],
  ['a later repetition', ['1', '2', '3', '4', '2'], ['repeated: 2']],
  ['a repeated part', ['1', '2', '3', '2', '3', '4'], ['repeated: 2', 'repeated: 3']],
  ['two swapped elements', ['1', '3', '2', '4'], ['out of order: 2']],
  ['a late element', ['2', '3', '4', '1'], ['out of order: 1']],
  ['what is for others', ['1', '2', '9', '3', '4'], ['not for them: 9']],
])('%s is recognised', (_name, received, faults) => {
  expect(faultsOf(EXPECTED, received)).toEqual(faults);
});

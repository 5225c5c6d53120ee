import { expect, test } from 'vitest';
import { faultsOf } from './sequence.ts';

const EXPECTED = ['1', '2', '3', '4'];

test.each<[string, readonly string[], readonly string[]]>([
  ['the same sequence', ['1', '2', '3', '4'], []],
  ['nothing', [], ['lost: 1', 'lost: 2', 'lost: 3', 'lost: 4']],
  ['one that is missing at the beginning', ['2', '3', '4'], ['lost: 1']],
  ['one that is missing in the middle', ['1', '3', '4'], ['lost: 2']],
  ['one that is missing at the end', ['1', '2', '3'], ['lost: 4']],
  ['one that comes again at once', ['1', '2', '2', '3', '4'], ['repeated: 2']],
  ['one that comes again later', ['1', '2', '3', '4', '2'], ['repeated: 2']],
  ['a part that comes again', ['1', '2', '3', '2', '3', '4'], ['repeated: 2', 'repeated: 3']],
  ['two that have changed places', ['1', '3', '2', '4'], ['out of order: 2']],
  ['one that comes too late', ['2', '3', '4', '1'], ['out of order: 1']],
  ['what is for others', ['1', '2', '9', '3', '4'], ['not for them: 9']],
])('%s is recognised', (_name, heard, faults) => {
  expect(faultsOf(EXPECTED, heard)).toEqual(faults);
});

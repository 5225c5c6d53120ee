import { expect, test } from 'vitest';
import { pathId } from './path-id.ts';

test.each([1, 8001, Number.MAX_SAFE_INTEGER])('%d is an id', (id) => {
  expect(pathId(String(id))).toBe(id);
});

const WRONG = [
  '',
  '0',
  '-1',
  '+1',
  '01',
  '1.0',
  '1e3',
  '0x1',
  ' 1',
  '1 ',
  '1\n',
  'NaN',
  '٣',
  '9007199254740992',
  '9'.repeat(400),
  'null',
];

test.each(WRONG)('%j is none', (text) => {
  expect(pathId(text)).toBeUndefined();
});

import { expect, test } from 'vitest';
import { demandEqual } from '../testing/equal.ts';

test.each([
  ['a property that is undefined and none', { a: 1, b: undefined }, { a: 1 }],
  [
    'objects with and without a prototype',
    [Object.assign(Object.create(null), { a: { b: [1] } })],
    [{ a: { b: [1] } }],
  ],
  ['properties in another order', { a: 1, b: 2 }, { b: 2, a: 1 }],
  ['no number', Number.NaN, Number.NaN],
])('%s are equal', (_, one, other) => {
  expect(() => demandEqual(one, other)).not.toThrow();
});

test.each([
  ['null and undefined', { a: null }, {}],
  ['a number and its text', [1], ['1']],
  ['another order', [1, 2], [2, 1]],
  ['an item that is undefined and none', [undefined], []],
  ['an object and a list', {}, []],
])('%s are not', (_, one, other) => {
  expect(() => demandEqual(one, other)).toThrow();
});

test('the error names the compared values and their difference', () => {
  const [actual, wanted] = [
    { id: 1, tags: ['a', 'b'] },
    { id: 1, tags: ['a', 'c'] },
  ];
  expect(() => demandEqual(actual, wanted, 'the tags of an article')).toThrow(
    /^the tags of an article\n(?:.*\n)*[+] +'b'\n- +'c'\n/,
  );
});

import { expect, test } from 'vitest';
import { departments } from '../../test/toy/departments.ts';
import { and, at, resolve } from './expression.ts';
import { possiblyTrue } from './possibly.ts';

const { report } = departments.kinds;
const left = (condition: object | string, unknown: readonly string[]) =>
  possiblyTrue(resolve(departments, report as never, condition), new Set(unknown));

test.each<[object | string, object]>([
  ['ours', { op: 'const', value: true }],
  [{ ours: false }, { op: 'const', value: true }],
  [
    { ours: true, own: true },
    { op: 'caller', field: 'author' },
  ],
  [
    [{ ours: false, own: false }, 'filed'],
    {
      op: 'or',
      of: [
        { op: 'not', of: { op: 'caller', field: 'author' } },
        { op: 'is', field: 'status', value: 'filed' },
      ],
    },
  ],
])('%j is reduced to its known parts', (condition, expected) =>
  expect(left(condition, ['department'])).toEqual(expected),
);

test('a comparison with an unknown field may be true, also behind a reference', () => {
  const beside = { op: 'beside', field: 'a', by: 'min', other: 'b', up: 0 } as const;
  const behind = at('parent', 'report', and({ ...beside, up: 1 }, { op: 'caller', field: 'author' }));
  expect(possiblyTrue(beside, new Set(['b']))).toEqual({ op: 'const', value: true });
  expect(possiblyTrue(behind, new Set(['b']))).toEqual(
    at('parent', 'report', { op: 'caller', field: 'author' }),
  );
  expect(possiblyTrue(behind, new Set(['a']))).toEqual(behind);
});

test('a condition on known fields stays whole', () =>
  expect(left('ours', ['title'])).toEqual({ op: 'callers', field: 'department', attribute: 'department' }));

import { parse } from 'graphql';
import { expect, test } from 'vitest';
import type { DocumentLimits } from './limits.ts';
import { findBeyondLimits } from './measure.ts';

const limits: DocumentLimits = {
  tokensMax: 2_000,
  depthMax: 3,
  aliasesMax: 2,
  directivesMax: 2,
  rootFieldsMax: 2,
  costMax: 1_000,
};

const beyond = (text: string): readonly unknown[] =>
  findBeyondLimits(parse(text), limits).map(({ extensions }) => extensions);

test.each([
  '{ me { posts { id } } }',
  '{ a: me { b: id } }',
  '{ me @skip(if: true) { id @include(if: true) } }',
  '{ me { ...F } } fragment F on User { posts { id } }',
  '{ __schema { types { fields { type { ofType { name } } } } } }',
  // Limits apply to each operation by itself.
  'query A { a: me { id } b: me { id } } query B { a: me { id } b: me { id } }',
])('%s is within the limits', (text) => {
  expect(beyond(text)).toEqual([]);
});

test.each([
  ['{ me { posts { author { id } } } }', { code: 'too_deep', max: 3, found: 4 }],
  [
    '{ me { ...F } } fragment F on User { posts { ... on Post { author { id } } } }',
    { code: 'too_deep', max: 3, found: 4 },
  ],
  ['{ me { a: id b: id c: id } }', { code: 'too_many_aliases', max: 2, found: 3 }],
  ['{ me { ...F ...F } } fragment F on User { a: id b: id }', { code: 'too_many_aliases', max: 2, found: 4 }],
  ['{ me @a @b { id @c } }', { code: 'too_many_directives', max: 2, found: 3 }],
  [
    'query @a { me { ...F @b } } fragment F on User { id @c }',
    { code: 'too_many_directives', max: 2, found: 3 },
  ],
  [
    '{ me { id } ...F } fragment F on Query { users { id } posts { id } }',
    { code: 'too_many_root_fields', max: 2, found: 3 },
  ],
])('%s exceeds one', (text, expected) => {
  expect(beyond(text)).toEqual([expected]);
});

test('cyclic fragments are measured in finite time', () => {
  expect(beyond('{ me { ...A } } fragment A on User { id ...B } fragment B on User { name ...A }')).toEqual(
    [],
  );
});

test('fragments that double each other are measured in linear time', () => {
  const fragments = Array.from(
    { length: 100 },
    (_, n) => `fragment F${n} on User { ...F${n + 1} ...F${n + 1} }`,
  );
  expect(beyond(`{ me { ...F0 } } ${fragments.join(' ')} fragment F100 on User { a: id }`)).toMatchObject([
    { code: 'too_many_aliases' },
  ]);
});

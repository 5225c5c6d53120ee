import { Kind, type OperationDefinitionNode, parse } from 'graphql';
import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line } from '#kernel/declare/fields.ts';
import { schema } from '../../../test/engines/schema.ts';
import { schemaOf } from '../schema/schema.ts';
import { costOf } from './cost.ts';

const cost = (text: string, variables: Readonly<Record<string, unknown>> = {}, of = schema): number => {
  const document = parse(text);
  const operation = document.definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  );
  if (!operation) throw new Error('no operation');
  return costOf(of, document, operation, variables);
};

test.each<[string, string]>([
  ['{ users(limit: -1) { id } }', 'A list cannot have -1 items: request 0 to 100.'],
  [
    '{ usersConnection(last: 101) { nodes { id } } }',
    'A list has at most 100 items, but 101 were requested.',
  ],
])('%s is refused: %s', (text, message) => {
  expect(() => cost(text)).toThrow(message);
});

test.each<[string, number]>([
  ['{ __typename }', 0],
  ['{ user(id: 1) { id name } }', 1],
  ['{ me { id } other: user(id: 2) { id } }', 2],
  ['{ users { id } }', 10],
  ['{ users(limit: 3) { id posts(limit: 2) { title } } }', 3 * (1 + 2)],
  // The nested read of the benchmark.
  [
    '{ users { posts(limit: 5) { comments(limit: 3) { text author { name } } } } }',
    10 * (1 + 5 * (1 + 3 * (1 + 1))),
  ],
  ['{ usersConnection(first: 4) { nodes { id } } }', 1 + 4],
  ['{ usersConnection { edges { cursor node { id } } pageInfo { endCursor } } }', 1 + 10 * (1 + 1) + 1],
  ['{ usersConnection(last: 2) { totalCount nodes { name } } }', 1 + 25 + 2],
  [
    '{ ... on Query { ...Some } } fragment Some on Query { users(limit: 2) { ...Name } } fragment Name on User { posts(limit: 1) { id } }',
    2 * 2,
  ],
  ['{ users(limit: 2) { proof history(first: 3) { nodes { proof } } } }', 2 * (1 + 50 + 1 + 3 * (1 + 50))],
  ['{ users(limit: 0) { posts { id } } }', 0],
  ['{ posts(limit: 3, filter: { search: "x" }) { id } }', 200 + 3],
  ['{ posts(limit: 3, filter: { search: null, tag: "x" }) { id } }', 3],
  ['{ users(limit: 2) { posts(limit: 1, filter: { search: "x" }) { id } } }', 2 * (1 + 200 + 1)],
  ['{ postsAggregate { groups { count } } }', 250 + 1 + 100],
  ['{ postsAggregate(limit: 3) { groups { key { status } } hasMore } }', 250 + 1 + 3 * (1 + 1)],
  ['{ users @skip(if: true) { id } }', 0],
  ['{ users @include(if: false) { id } me { id } }', 1],
  ['{ __schema { types { name fields { name } } } }', 0],
  ['mutation { createUser(input: { name: "Ada" }) { id } }', 51],
  ['mutation { one: deletePost(id: 1) other: deletePost(id: 2) }', 100],
  ['mutation { ...Two } fragment Two on Mutation { one: deletePost(id: 1) other: deletePost(id: 2) }', 100],
])('%s costs %d', (text, expected) => {
  expect(cost(text)).toBe(expected);
});

test('a field of the domain costs nothing under the names of fields that do', () => {
  const base = domain({ name: 'claims', roles: ['clerk'] });
  const claim = base.aggregate('claim', {
    fields: { proof: line(9), totalCount: line(9) },
    events: { made: { creates: ['proof', 'totalCount'] } },
    commands: { make: { emits: 'made' } },
    rights: { read: { anyone: true }, write: { clerk: true } },
  });
  const claims = schemaOf(assemble(base, [claim]));
  expect(cost('{ claims(limit: 3) { proof totalCount } }', {}, claims)).toBe(3);
  expect(cost('{ claims(limit: 3) { history(first: 1) { nodes { proof } } } }', {}, claims)).toBe(
    3 * (1 + 1 + 1 + 50),
  );
});

test('variables cost the same as literals', () => {
  const text = 'query ($n: Int, $m: Int) { users(limit: $n) { posts(limit: $m) { id } } }';
  expect(cost(text, { n: 100, m: 50 })).toBe(100 * (1 + 50));
  expect(cost(text, { n: 100 })).toBe(100 * (1 + 10));
  expect(cost(text, { n: null })).toBe(10 * (1 + 10));
});

test('a field excluded by a variable costs nothing', () => {
  const text = 'query ($all: Boolean!) { me { id posts @include(if: $all) { id } } }';
  expect(cost(text, { all: true })).toBe(11);
  expect(cost(text, { all: false })).toBe(1);
});

test.each<[string, Record<string, unknown>]>([
  ['query ($n: Int) { usersConnection(first: $n) { nodes { id } } }', { n: 2_000_000_000 }],
  ['{ me { posts(limit: 1000) { id } } }', {}],
])('%s asks for too long a list', (text, variables) => {
  expect(() => cost(text, variables)).toThrow(
    expect.objectContaining({ extensions: { code: 'limit_out_of_range', max: 100 } }),
  );
});

test('fragments that double each other are counted in linear time', () => {
  const fragments = Array.from(
    { length: 60 },
    (_, n) => `fragment F${n} on User { posts(limit: 1) { author { ...F${n + 1} ...F${n + 1} } } }`,
  );
  const text = `{ me { ...F0 } } ${fragments.join(' ')} fragment F60 on User { id }`;
  expect(cost(text)).toBeGreaterThan(2 ** 59);
});

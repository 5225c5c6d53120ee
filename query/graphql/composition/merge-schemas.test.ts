import { buildSchema, printType } from 'graphql';
import { expect, test } from 'vitest';
import { schema as own } from '../../../test/engines/schema.ts';
import { mergeSchemas, SchemaConflict } from './merge-schemas.ts';

const service = (name: string, sdl: string) => ({ name, schema: buildSchema(sdl) });

test('queries and mutations of other services are added to ours, nullable because a service may be down', () => {
  const merged = mergeSchemas(own, [
    service(
      'shop',
      'type Query { carts: [Cart!]! } interface Part { id: ID! } type Cart implements Part { id: ID! } type Wheel implements Part { id: ID! }',
    ),
    service(
      'mail',
      'schema { query: Reading mutation: Writing } type Reading { inbox: Int! } type Writing { post(text: String!): Boolean! }',
    ),
  ]);
  expect(String(merged.getQueryType()?.getFields().carts?.type)).toBe('[Cart!]');
  expect(String(merged.getMutationType()?.getFields().post?.type)).toBe('Boolean');
  expect(merged.getQueryType()?.getFields().posts).toBeDefined();
  // Types that only their interface leads to.
  expect(merged.getType('Wheel')).toBeDefined();
  for (const name of ['Reading', 'Writing']) expect(merged.getType(name)).toBeUndefined();
  expect(printType(merged.getType('Post') as never)).toBe(printType(own.getType('Post') as never));
});

test('fields reserved for gateways are omitted', () => {
  const merged = mergeSchemas(own, [
    service(
      'shop',
      'type Query { a: Int _service: _Service! _entities: [_Entity]! } type _Service { x: Int } union _Entity = Cart type Cart { id: ID! }',
    ),
  ]);
  expect(String(merged.getType('_Service'))).toBe('_Service');
  expect(printType(merged.getType('_Service') as never)).toContain('sdl');
});

test.each([
  [
    'type Query { a: Post } type Post { id: ID! }',
    /^The service shop has the type Post, which Annals also has: give the service a "prefix"/,
  ],
  [
    'scalar DateTime scalar Upload type Query { a: DateTime }',
    /types DateTime, Upload|types Upload, DateTime/,
  ],
  ['type Query { posts: Int }', /has the query field posts, which Annals also has/],
  ['type Query { a: Int } type Mutation { deletePost: Int }', /has the mutation field deletePost/],
])('%s is refused', (sdl, message) => {
  expect(() => mergeSchemas(own, [service('shop', sdl)])).toThrow(SchemaConflict);
  expect(() => mergeSchemas(own, [service('shop', sdl)])).toThrow(message);
});

test('two other services with the same name are refused', () => {
  const sdl = 'type Query { a: Int }';
  expect(() => mergeSchemas(own, [service('one', sdl), service('two', sdl)])).toThrow(
    'The service two has the query field a, which one also has',
  );
});

test('a composed schema that is not valid is refused with the reason', () => {
  const broken =
    'type Query { a: Cart } interface Part { id: ID! } type Cart implements Part { name: String }';
  const shop = { name: 'shop', schema: buildSchema(broken, { assumeValid: true }) };
  expect(() => mergeSchemas(own, [shop])).toThrow(
    'The composed schema is not valid: Interface field Part.id expected but Cart does not provide it.',
  );
});

import { expect, test } from 'vitest';
import * as z from 'zod';
import type { JsonObject } from '#kernel/base/json.ts';
import { compareSchemas } from './compare-schemas.ts';

const json = (schema: z.ZodType) => z.toJSONSchema(schema) as JsonObject;
const changes = (before: z.ZodType, after: z.ZodType) =>
  compareSchemas({ schema: json(before) }, { schema: json(after) }).map(({ path, kind }) =>
    `${path} ${kind}`.trim(),
  );
const within = (shape: Record<string, z.ZodType>) => z.strictObject(shape);

const text = z.string().max(9);
test.each<[string, z.ZodType, z.ZodType, readonly string[]]>([
  ['the same', within({ a: text, b: z.int() }), within({ b: z.int(), a: text }), []],
  [
    'texts for readers',
    text.meta({ description: 'One' }),
    text.meta({ description: 'Other', examples: ['x'] }),
    [],
  ],
  ['a field less', within({ a: text, b: text }), within({ a: text }), ['b gone']],
  ['a field more', within({ a: text }), within({ a: text, b: text.exactOptional() }), ['b came']],
  ['a field more that must be there', within({}), within({ b: text }), ['b cameRequired']],
  ['a field that must be there', within({ a: text.exactOptional() }), within({ a: text }), ['a required']],
  [
    'a field that need not be there',
    within({ a: text }),
    within({ a: text.exactOptional() }),
    ['a optional'],
  ],
  ['null', within({ a: text }), within({ a: text.nullable() }), ['a nullable']],
  ['null no more', within({ a: text.nullable() }), within({ a: text }), ['a notNull']],
  ['null beside another change', text.nullable(), z.string().max(5), ['notNull', 'narrower']],
  ['another type', within({ a: text }), within({ a: z.int() }), ['a other']],
  ['another type below null', text.nullable(), z.int().nullable(), ['other']],
  ['a word less and one more', z.enum(['a', 'b']), z.enum(['b', 'c']), ['narrower', 'wider']],
  ['words in another order', z.enum(['a', 'b']), z.enum(['b', 'a']), []],
  ['words where there was any text', z.string(), z.enum(['a']), ['narrower']],
  ['any text where there were words', z.literal('a'), z.string(), ['wider']],
  ['a higher limit', text, z.string().max(10), ['wider']],
  ['a lower limit', z.int().min(0), z.int().min(1), ['narrower']],
  ['a limit where there was none', z.string(), text, ['narrower']],
  ['no limit any more', text, z.string(), ['wider']],
  ['another pattern', z.string().regex(/^a$/), z.string().regex(/^b$/), ['other']],
  [
    'a word more in a pattern',
    z.string().regex(/^(?:a|b)-\d$/),
    z.string().regex(/^(?:b|c|a)-\d$/),
    ['wider'],
  ],
  ['a word less in a pattern', z.string().regex(/^(?:a|b)-\d$/), z.string().regex(/^(?:a|c)-\d$/), ['other']],
  ['a format', z.string(), z.string().regex(/^a$/), ['narrower']],
  ['items', z.array(within({ a: text })), z.array(within({})), ['[].a gone']],
  [
    'fields of fields',
    within({ a: within({ b: text }) }),
    within({ a: within({ b: z.int() }) }),
    ['a.b other'],
  ],
  ['alternatives', z.union([text, z.int()]), z.union([text, z.boolean()]), ['other']],
  ['an alternative more', z.union([text, z.int()]), z.union([text, z.int(), z.boolean()]), ['wider']],
  [
    'an alternative replaced and one more',
    z.union([text, z.int()]),
    z.union([text, z.boolean(), z.null(), within({})]),
    ['nullable', 'other', 'wider'],
  ],
  ['an alternative less', z.union([text, z.int(), z.boolean()]), z.union([z.boolean(), text]), ['narrower']],
  ['alternatives in another order', z.union([text, z.int()]), z.union([z.int(), text]), []],
  [
    'alternatives told apart by a constant',
    z.union([within({ op: z.literal('a'), x: text }), within({ op: z.literal('b') })]),
    z.union([
      within({ op: z.literal('c') }),
      within({ op: z.literal('d') }),
      within({ op: z.literal('a'), x: z.int() }),
    ]),
    ['x other', 'narrower', 'wider'],
  ],
])('%s', (_, before, after, expected) => expect(changes(before, after)).toEqual(expected));

test.each<[string, JsonObject, JsonObject]>([
  [
    'how wide an integer is held',
    { type: 'integer', maximum: 9 },
    { type: 'integer', maximum: 9, format: 'int64' },
  ],
  ['a whole constant', { type: 'number', const: 1 }, { type: 'integer', const: 1 }],
  [
    'anything',
    { anyOf: ['string', 'number', 'boolean', 'null', 'array', 'object'].map((type) => ({ type })) },
    { description: 'Any JSON' },
  ],
])('%s is equivalent', (_, before, after) => {
  expect(compareSchemas({ schema: before }, { schema: after })).toEqual([]);
});

test('references are followed, and a recursive schema is compared once', () => {
  const tree = (leaf: JsonObject): Readonly<Record<string, JsonObject>> => ({
    Tree: {
      type: 'object',
      properties: { leaf, left: { $ref: '#/components/schemas/Tree' } },
      required: ['leaf'],
    },
  });
  const schema = { $ref: '#/components/schemas/Tree' };
  const compared = compareSchemas(
    { schema, named: tree({ type: 'string' }) },
    { schema, named: tree({ type: 'integer' }) },
  );
  expect(compared).toEqual([{ path: 'leaf', kind: 'other', says: 'was string and is integer' }]);
});

import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import * as values from '../values.ts';
import * as fields from './fields.ts';

const accepts = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;
const tags = values.different(z.string().regex(/^[a-z0-9-]{1,40}$/), 10, 'Must not repeat a tag.');
const FACE = '\u{1F600}';

test.each<[string, z.ZodType, readonly unknown[], readonly unknown[]]>([
  [
    'a name',
    fields.name,
    ['A', ' Ada ', 'x'.repeat(100), FACE.repeat(100)],
    ['', '  \n\t', 'x'.repeat(101), FACE.repeat(101), 'a\u0000b', 'a\ud800', 1, null],
  ],
  ['a title', values.visibleText(200), ['T', 'x'.repeat(200)], ['', '\u00a0', 'x'.repeat(201)]],
  ['a body', values.text(100_000), ['', ' ', 'x'.repeat(100_000)], ['x'.repeat(100_001), '\u0000', '\udc00']],
  ['a comment’s text', values.visibleText(5_000), ['x', 'x'.repeat(5_000)], ['', ' ', 'x'.repeat(5_001)]],
  [
    'an e-mail address',
    values.email,
    [
      'a@b.example',
      "o'neil+x@sub.example.org",
      'jörg@bücher.example',
      '用户@例子.公司',
      `${'a'.repeat(64)}@${'b'.repeat(181)}.example`,
    ],
    [
      '',
      'a',
      'a@b',
      'a@@b.example',
      'a b@c.example',
      '@b.example',
      'a@',
      'a@-.example',
      'a@b..example',
      'a@b.example\u0000',
      'a@b.example\n',
      `${'a'.repeat(64)}@${'b'.repeat(182)}.example`,
    ],
  ],
  [
    'the name of a role',
    fields.roleName,
    ['reader', 'admin', 'Team-lead_2'],
    ['', '2nd', 'a b', 'x'.repeat(41), null],
  ],
  [
    'tags',
    tags,
    [[], ['a'], ['a', 'b-1'], ['a'.repeat(40)], 'abcdefghij'.split('')],
    [['A'], [''], ['a'.repeat(41)], ['a', 'a'], 'abcdefghijk'.split(''), ['a\n'], 'a'],
  ],
  [
    'a cover',
    values.picture,
    ['/uploads/a.png', 'https://example.com/a', 'http://example.com/a'],
    ['', 'javascript:alert(1)', 'data:,x', '//example.com/a', '/uploads/', '/uploads/a b', 'https://a\u0000'],
  ],
  ['an id', fields.userId, [1, 2 ** 53 - 1], [0, -1, 1.5, 2 ** 53, '1', Number.NaN]],
  ['a version', fields.version, [0, 1], [-1, 0.5]],
  [
    'a time',
    values.timestamp,
    ['2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.678+01:00', '2026-02-30T00:00:00.000Z', 'now'],
  ],
  ['a token', values.token, ['a', 'email-x@0'], ['', ' ', 'a b', 'é', 'x'.repeat(201)]],
])('%s', (_, schema, accepted, refused) => {
  for (const value of accepted)
    expect.soft(accepts(schema, value), `accepts ${JSON.stringify(value)?.slice(0, 60)}`).toBe(true);
  for (const value of refused)
    expect.soft(accepts(schema, value), `refuses ${JSON.stringify(value)?.slice(0, 60)}`).toBe(false);
});

test('text is stored unchanged', () => {
  expect(fields.name.parse('  Ada ')).toBe('  Ada ');
});

describe('the JSON schema', () => {
  test('of a name has the limits and the pattern', () => {
    const schema = z.toJSONSchema(fields.name);
    expect(schema).toMatchObject({ type: 'string', minLength: 1, maxLength: 100 });
    const pattern = new RegExp(schema.pattern ?? '', 'u');
    expect([pattern.test(' a '), pattern.test('  '), pattern.test('a\u0000')]).toEqual([true, false, false]);
  });

  test('of an e-mail address has its format', () => {
    expect(z.toJSONSchema(values.email)).toMatchObject({ type: 'string', maxLength: 254, format: 'email' });
  });

  test('of tags states that they are unique', () => {
    expect(z.toJSONSchema(tags)).toMatchObject({ type: 'array', maxItems: 10, uniqueItems: true });
  });
});

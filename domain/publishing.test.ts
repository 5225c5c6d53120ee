import { expect, test } from 'vitest';
import * as z from 'zod';
import { rightOf } from '#kernel/conditions/rights.ts';
import { definitionsOf } from '#kernel/events/definitions.ts';
import { CATALOGUE } from '#shared/events/catalogue.ts';
import { publishing } from './publishing.ts';

test.each(definitionsOf(publishing).map((definition) => [definition.type, definition] as const))(
  '%s has the definition that is recorded',
  (type, { schema, erasedSchema, ...definition }) => {
    const recorded = CATALOGUE[type as keyof typeof CATALOGUE];
    const of = (schema: z.ZodType) => z.toJSONSchema(schema, { unrepresentable: 'any' });
    expect(JSON.stringify(of(schema))).toEqual(JSON.stringify(of(recorded.schema)));
    expect(JSON.stringify(of(erasedSchema))).toEqual(JSON.stringify(of(recorded.erasedSchema)));
    const { schema: _, erasedSchema: __, ...rest } = recorded;
    expect(JSON.stringify(definition.example)).toEqual(JSON.stringify(rest.example));
    expect(definition).toEqual(rest);
  },
);
test('a comment is read as its article is', () => {
  const { comment } = publishing.kinds;
  if (!comment) throw new Error('There is no comment');
  const author = rightOf(publishing, comment, 'read', 'author');
  expect(author).toMatchObject({
    op: 'or',
    of: [
      { op: 'at', field: 'article' },
      { op: 'at', field: 'article' },
    ],
  });
  expect(rightOf(publishing, comment, 'read', 'admin')).toEqual({ op: 'const', value: true });
});

import { expect, test } from 'vitest';
import * as z from 'zod';
import { rightOf } from '#kernel/conditions/rights.ts';
import { eventSchema } from '#kernel/events/schemas.ts';
import { CATALOGUE } from '#shared/events/catalogue.ts';
import { publishing } from './publishing.ts';

const eventsOf = Object.values(publishing.kinds).flatMap((kind) => Object.values(kind.events).map((event) => ({ kind, event })));

test.each(eventsOf.map(({ kind, event }) => [event.type, kind, event] as const))(
  '%s has the schema that is recorded',
  (type, kind, event) => {
    const recorded = CATALOGUE[type as keyof typeof CATALOGUE];
    const of = (schema: z.ZodType) => z.toJSONSchema(schema, { unrepresentable: 'any' });
    expect(of(eventSchema(kind, event))).toEqual(of(recorded.schema));
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
  expect(rightOf(publishing, comment, 'read', 'admin')).toMatchObject({ op: 'at', field: 'article', of: { value: true } });
});

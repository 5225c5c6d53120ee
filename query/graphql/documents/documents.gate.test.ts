import { queryObjects } from 'node:v8';
import { ValidationContext } from 'graphql';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { schemaOf } from '../schema/schema.ts';
import { createDocuments } from './documents.ts';

const limits = {
  tokensMax: 1_000,
  depthMax: 10,
  aliasesMax: 10,
  directivesMax: 10,
  rootFieldsMax: 10,
  costMax: 1_000,
};

test('refused documents stay known by their errors, without documents and validations', () => {
  const documents = createDocuments({
    domain: publishing,
    schema: schemaOf(publishing),
    limits,
    suggests: true,
  });
  const refused = Array.from({ length: 50 }, (_, each) => `{ posts { id unknown${each} } }`);
  const kept = refused.map((text) => documents.prepare(text));
  expect(queryObjects(ValidationContext, { format: 'count' })).toBeLessThan(50);
  expect(documents.prepare(refused[0] as string)).toBe(kept[0]);
  expect(JSON.parse(JSON.stringify(kept[0]))).toEqual([
    {
      message: 'Cannot query field "unknown0" on type "Post".',
      locations: [{ line: 1, column: 14 }],
      extensions: { code: 'invalid_document' },
    },
  ]);
});

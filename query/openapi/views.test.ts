import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { operationsOf } from '#shared/rest/operations.ts';
import { spendingDomain } from '../../test/toy/spending.ts';
import { openApiDocument } from './document.ts';
import { examplesOf } from './examples.ts';

/** The OpenAPI document of a domain with views. */
const OPTIONS = {
  domain: spendingDomain,
  publicUrl: 'https://annals.example',
  issuerUrl: 'https://issuer.example',
  requireIfMatch: false,
};

test('an independent validator accepts it', async () => {
  const { errors, valid } = await new Validator().validate(
    structuredClone<object>(openApiDocument(OPTIONS)) as Record<string, unknown>,
  );
  expect([errors, valid]).toEqual([undefined, true]);
});

test.each(['Spending', 'Asking'])('the example of %s is one', (name) => {
  const { schema } = operationsOf(spendingDomain)[`get${name}`]?.answer ?? {};
  expect(examplesOf(spendingDomain)).toHaveProperty(name);
  expect(() => schema?.parse(examplesOf(spendingDomain)[name])).not.toThrow();
  expect(schema).toBeDefined();
});

import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { publishing } from '#domain/publishing.ts';
import { catalogueOf } from './catalogue.ts';

const catalogue = catalogueOf(publishing);

describe.each(catalogue.definitions)('$type', (definition) => {
  test('is found by its type', () => {
    expect(catalogue.find(definition.type)).toBe(definition);
  });

  test('has an example that its schema accepts', () => {
    expect(definition.schema.parse(definition.example)).toEqual(definition.example);
  });

  test('accepts its example when it was erased, and nothing beyond its fields', () => {
    const erased = Object.fromEntries((definition.personal?.fields ?? []).map((field) => [field, null]));
    expect(definition.erasedSchema.safeParse({ ...definition.example, ...erased }).success).toBe(true);
    expect(definition.erasedSchema.safeParse({ ...definition.example, more: 1 }).success).toBe(false);
    expect(definition.schema.safeParse({ ...definition.example, more: 1 }).success).toBe(false);
  });

  test('has a JSON schema and one sentence about it', () => {
    expect(z.toJSONSchema(definition.schema)).toMatchObject({ type: 'object', additionalProperties: false });
    expect(definition.description).toMatch(/^[A-Z].*[^.]\.$/);
  });

  test('has an upcaster from every earlier version and from no other', () => {
    const earlier = Array.from({ length: definition.version - 1 }, (_, index) => String(index + 1));
    expect(Object.keys(definition.upcasters)).toEqual(earlier);
  });
});

test('a type is known only by its full name', () => {
  expect(catalogue.find('user.registered')?.type).toBe('user.registered');
  expect(catalogue.find('toString')).toBeUndefined();
});

import { describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { expenses } from '../../test/toy/expenses.ts';
import { helpdesk } from '../../test/toy/helpdesk.ts';
import { lending } from '../../test/toy/lending.ts';
import { spendingDomain } from '../../test/toy/spending.ts';
import { openApiDocument } from './document.ts';

/** Faults that broke generated clients. `test/languages.engine.test.ts` generates and compiles some. */
type Schema = { readonly [key: string]: unknown };
type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
type Operation = {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

/** Each schema within the value, examples aside. */
const schemasIn = (value: unknown): readonly Schema[] =>
  isObject(value)
    ? [value, ...Object.entries(value).flatMap(([key, each]) => (key === 'examples' ? [] : schemasIn(each)))]
    : [];

describe.each([publishing, expenses, helpdesk, lending, spendingDomain])('$name', (domain) => {
  const document = openApiDocument({
    domain,
    publicUrl: 'https://annals.example',
    issuerUrl: 'https://issuer.example',
    requireIfMatch: false,
  }) as unknown as Document;
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const responses = operations.flatMap((operation) =>
    Object.entries(operation.responses).map(([status, { content = {} }]) => ({
      name: `${operation.operationId} ${status}`,
      status: Number(status),
      content,
    })),
  );

  test('a response has one type in JSON', () => {
    const several = responses.filter(
      ({ content }) => Object.keys(content).filter((type) => /\bjson$/.test(type)).length > 1,
    );
    expect(several.map(({ name }) => name)).toEqual([]);
  });

  test('every refusal has the named type of problems', () => {
    const refusals = responses.filter(({ status }) => status >= 400);
    expect(refusals.length).toBeGreaterThan(100);
    const others = refusals.filter(
      ({ content }) =>
        JSON.stringify(content['application/problem+json']?.schema) !==
        '{"$ref":"#/components/schemas/Problem"}',
    );
    expect(others.map(({ name }) => name)).toEqual([]);
  });

  test('an enumeration in a set has a name', () => {
    const sets = schemasIn(document).filter(({ uniqueItems }) => uniqueItems === true);
    expect(sets.length).toBeGreaterThan(10);
    expect(sets.filter(({ items }) => isObject(items) && 'enum' in items)).toEqual([]);
  });

  test('an integer that may exceed 32 bits says so, in paths too', () => {
    const large = schemasIn(document).filter(
      ({ type, maximum }) => type === 'integer' && Number(maximum) >= 2 ** 31,
    );
    expect(large.length).toBeGreaterThan(50);
    expect(large.filter(({ format }) => format !== 'int64')).toEqual([]);
  });

  test('no operation has the name of another, in any case', () => {
    const names = operations.map(({ operationId }) => operationId.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
    expect(operations.filter(({ operationId }) => !/^[a-z][A-Za-z0-9]*$/.test(operationId))).toEqual([]);
  });

  test('no schema has the name of a type that generators add', () => {
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => /^(?:New|Api|Authenticated)?Client(?:WithResponses)?$/.test(name))).toEqual(
      [],
    );
  });
});

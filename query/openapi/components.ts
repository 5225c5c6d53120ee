import { describeProblem, type ProblemCode } from '#edge/http/problem.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { examplesOf } from './examples.ts';
import type { JsonSchemas } from './json-schemas.ts';
import { problemCodesOf } from './problem-codes.ts';
import { titleOf } from './titles.ts';

/** Every named schema: those that operations refer to, and others that no operation mentions. */
export const componentSchemas = (domain: Domain, schemas: JsonSchemas): JsonObject => {
  const examples = examplesOf(domain);
  const named = Object.entries(schemas.named()).map(([name, schema]) => {
    const example = examples[name];
    return [name, example === undefined ? schema : { ...schema, examples: [example] }] as const;
  });
  return {
    ...Object.fromEntries(named),
    HalPage,
    PageLinks,
    Problem: problemSchema(problemCodesOf(domain)),
  } as JsonObject;
};

/** An example of every problem, for the responses that refer to it. */
export const problemExamples = (domain: Domain): JsonObject =>
  Object.fromEntries(
    problemCodesOf(domain).map((code) => [code, { value: exampleOf(code, titleOf(domain, code)) }]),
  );

const exampleOf = (code: ProblemCode, title = describeProblem(code).title): JsonObject => {
  const { status } = describeProblem(code);
  return {
    type: `urn:annals:problem:${code}`,
    title,
    status,
    code,
    requestId: '3f1c2a5e-8b7d-4e9a-9c46-2d5b7f0e1a33',
  };
};

const link: JsonObject = {
  type: 'object',
  properties: { href: { type: 'string' } },
  required: ['href'],
  additionalProperties: false,
};

const action: JsonObject = {
  type: 'object',
  description: 'Adds an item; present exactly when you may add one.',
  properties: { href: { type: 'string' }, method: { const: 'POST' } },
  required: ['href', 'method'],
  additionalProperties: false,
};

const PageLinks: JsonObject = {
  type: 'object',
  description: 'The pages around this one; absent if there is no such page.',
  properties: { self: link, first: link, prev: link, next: link, poll: link, create: action },
  required: ['self'],
  additionalProperties: false,
};

const HalPage: JsonObject = {
  type: 'object',
  description: 'A page of any list, if the request prefers `application/hal+json`.',
  properties: {
    _links: { $ref: '#/components/schemas/PageLinks' },
    _embedded: {
      type: 'object',
      properties: { items: { type: 'array', items: {}, description: 'The same items as in JSON.' } },
      required: ['items'],
    },
  },
  required: ['_links', '_embedded'],
};

const fieldError: JsonObject = {
  type: 'object',
  properties: {
    pointer: { type: 'string', description: 'JSON Pointer to the field of the body (RFC 6901).' },
    parameter: { type: 'string', description: 'The parameter of the query.' },
    detail: { type: 'string' },
  },
  required: ['detail'],
};

const problemSchema = (codes: readonly ProblemCode[]): JsonObject => ({
  type: 'object',
  description: 'A problem (RFC 9457). Programs compare `code`, which is stable.',
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string', description: 'The same for every problem with this code.' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    code: { type: 'string', enum: codes },
    detail: { type: 'string', description: 'Details of this error.' },
    requestId: { type: 'string', description: 'Identifies this request in the logs of the server.' },
    errors: { type: 'array', items: fieldError, description: 'All errors of the request.' },
    details: { type: 'object', description: 'More facts for programs, beside `code`.' },
  },
  required: ['type', 'title', 'status', 'code', 'requestId'],
  examples: [
    { ...exampleOf('invalid_request'), errors: [{ pointer: '/title', detail: 'Must not be blank.' }] },
  ],
});

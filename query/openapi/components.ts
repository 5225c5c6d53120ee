import type { Domain } from '#kernel/registry/registry.ts';
import { HTTP_PROBLEMS } from '#shared/http/http-problem.ts';
import { describeProblem, type ProblemCode } from '#shared/http/problem.ts';
import type { JsonObject } from '#shared/json.ts';
import { deleted, notFound, REJECTIONS } from '#shared/rejection.ts';
import { ofAggregates } from '#shared/rest/operations.ts';
import { examplesOf } from './examples.ts';
import type { JsonSchemas } from './json-schemas.ts';
import { titleOf } from './problems.ts';

/** Every schema of a name: those that the operations refer to, and those of what no operation has a schema for. */
export const componentSchemas = (domain: Domain, schemas: JsonSchemas): JsonObject => {
  const examples = examplesOf(domain);
  const named = Object.entries(schemas.named()).map(([name, schema]) => {
    const example = examples[name];
    return [name, example === undefined ? schema : { ...schema, examples: [example] }] as const;
  });
  return { ...Object.fromEntries(named), PageLinks, Problem: problemSchema(codesOf(domain)) } as JsonObject;
};

/** Every problem, for the answers that it stands in. */
export const problemExamples = (domain: Domain): JsonObject =>
  Object.fromEntries(codesOf(domain).map((code) => [code, { value: exampleOf(code, titleOf(domain, code)) }]));

/** The kernel's own, and those that follow from the names of the domain. */
const codesOf = (domain: Domain): readonly ProblemCode[] => {
  const own = [...Object.keys(HTTP_PROBLEMS), ...Object.keys(REJECTIONS)] as readonly ProblemCode[];
  const derived = Object.keys(domain.kinds).flatMap((kind) => [notFound(kind), deleted(kind)]);
  const ofOperations = ofAggregates(domain).flatMap(([, { refusals = [], parameters = {} }]) => [
    ...refusals,
    ...Object.values(parameters).map(({ absent }) => absent),
  ]);
  return [...new Set([...own, ...derived, ...ofOperations])];
};

const exampleOf = (code: ProblemCode, title = describeProblem(code).title): JsonObject => {
  const { status } = describeProblem(code);
  return { type: `urn:annals:problem:${code}`, title, status, code, requestId: '3f1c2a5e-8b7d-4e9a-9c46-2d5b7f0e1a33' };
};

const link: JsonObject = { type: 'object', properties: { href: { type: 'string' } }, required: ['href'], additionalProperties: false };

const action: JsonObject = {
  type: 'object',
  description: 'Adds an item; there exactly when you may.',
  properties: { href: { type: 'string' }, method: { const: 'POST' } },
  required: ['href', 'method'],
  additionalProperties: false,
};

const PageLinks: JsonObject = {
  type: 'object',
  description: 'The pages around this one; those that there are not are left out.',
  properties: { self: link, first: link, prev: link, next: link, poll: link, create: action },
  required: ['self'],
  additionalProperties: false,
};

const fieldError: JsonObject = {
  type: 'object',
  properties: {
    pointer: { type: 'string', description: 'To the field of the body (RFC 6901).' },
    parameter: { type: 'string', description: 'The parameter of the query.' },
    detail: { type: 'string' },
  },
  required: ['detail'],
};

const problemSchema = (codes: readonly ProblemCode[]): JsonObject => ({
  type: 'object',
  description: 'What went wrong (RFC 9457). Programs compare `code`, which is stable.',
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string', description: 'The same for every problem of this code.' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    code: { type: 'string', enum: codes },
    detail: { type: 'string', description: 'What is the matter this time.' },
    requestId: { type: 'string', description: 'Names this request in our logs.' },
    errors: { type: 'array', items: fieldError, description: 'All that is wrong with the request.' },
    details: { type: 'object', description: 'What a program needs to know beyond the code.' },
  },
  required: ['type', 'title', 'status', 'code', 'requestId'],
  examples: [{ ...exampleOf('invalid_request'), errors: [{ pointer: '/title', detail: 'Must not be blank.' }] }],
});

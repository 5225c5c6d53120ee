// Over 200 lines, because it is one list: the responses of operations, with their headers.
import '#shared/rest/describing.ts';
import type * as z from 'zod';
import { describeProblem, type ProblemCode } from '#edge/http/problem.ts';
import { statusOfMinimal } from '#edge/rest/writes/answer.ts';
import { takesPreference } from '#edge/rest/writes/preference.ts';
import { EXAMPLE_CURSOR } from '#kernel/base/cursor.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { type Answer, isOfLog, type RestOperation } from '#kernel/base/rest/operation.ts';
import type { Policy } from '#shared/policy.ts';
import { EXPORT_TYPE } from '#shared/rest/audit.ts';
import type { Operations } from '#shared/rest/operations.ts';
import type { JsonSchemas } from './json-schemas.ts';
import { problemsOf } from './problems.ts';
import { titleOf } from './titles.ts';

const text = (description: string, example: string) => ({
  description,
  schema: { type: 'string', examples: [example] },
});

/** The headers of responses, each defined once in the document. */
export const ANSWER_HEADERS = {
  ETag: text(
    'A strong ETag: the version of the item, if you may change it, and a digest of these bytes. Send it back as If-Match or If-None-Match. The ETag of a write has only the version: use it for If-Match; no read returns it.',
    '"3-q83vEjRWeJCrze8S"',
  ),
  Location: text('The new item, or the progress of the request.', '/users/7001'),
  Link: text(
    'The pages around this one (RFC 8288): first, prev, next.',
    '</users?after=WzEsMjBd>; rel="next"',
  ),
  'Content-Location': text(
    'The path of the item, if the response is the item: with Preference-Applied: return=representation.',
    '/users/7001',
  ),
  'Preference-Applied': text(
    'The preference of the request that was applied (RFC 7240), if one was.',
    'return=representation',
  ),
  'Consistency-Token': text('The cursor of this write: a read that sends it sees the write.', EXAMPLE_CURSOR),
  'As-Of': text(
    'For time travel: the cursor of the requested point in time. A request with this `at` always returns the same, unless a person is erased.',
    EXAMPLE_CURSOR,
  ),
  'Searched-To': text(
    'If the page ended because the search had read its maximum of events: the time of the last event that it read. The search continues at rel="next".',
    '2026-11-21T15:04:05.678Z',
  ),
  'Memento-Datetime': text(
    'For time travel: the last change of the item before that point in time (RFC 7089).',
    'Sat, 21 Nov 2026 10:15:00 GMT',
  ),
  'Cache-Control': text(
    '`public` if the response is the same for everybody, `private` if it depends on the token.',
    'public, no-cache',
  ),
  Vary: text('The request headers that the response depends on.', 'Accept, Authorization, Consistency-Token'),
  RateLimit: text('Remaining units (draft-ietf-httpapi-ratelimit-headers).', '"default";r=1999;t=1'),
  'RateLimit-Policy': text('The quota, and the time in which it refills.', '"default";q=2000;w=20'),
  'Retry-After': text('Retry after this number of seconds.', '1'),
  'WWW-Authenticate': text(
    'Why the token was refused, or that a token is required (RFC 6750).',
    'Bearer error="invalid_token"',
  ),
  'X-Request-Id': text(
    'Identifies this request in the logs of the server; the same as in the request, if that had one.',
    '3f1c2a5e-8b7d-4e9a-9c46-2d5b7f0e1a33',
  ),
} as const satisfies Record<string, JsonObject>;

type AnswerHeader = keyof typeof ANSWER_HEADERS;

const EVERYWHERE: readonly AnswerHeader[] = ['RateLimit', 'RateLimit-Policy', 'X-Request-Id'];

export const headers = (...names: readonly AnswerHeader[]): JsonObject =>
  Object.fromEntries(
    [...names, ...EVERYWHERE].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );

/** Every response of an operation, by status. */
export const answersOf = (
  operation: RestOperation,
  {
    schemas,
    operations,
    ...demanded
  }: Described & { readonly requireIfMatch: boolean; readonly policy: Policy },
): JsonObject => {
  const { answer } = operation;
  const refusals = [...problemsOf(operation, demanded)];
  return {
    [answer.status]: success(operation, { schemas, operations }),
    ...(isOfLog(operation) &&
      takesPreference(answer) &&
      statusOfMinimal(answer.status) !== answer.status && {
        [statusOfMinimal(answer.status)]: minimal(answer),
      }),
    ...(operation.method === 'GET' && answer.kind !== 'lines' && { 304: NOT_MODIFIED }),
    ...Object.fromEntries(
      refusals.map(([status, codes]) => [
        status,
        refusal(status, codes, (code) => titleOf(demanded.policy.domain, code)),
      ]),
    ),
  };
};

const NOT_MODIFIED: JsonObject = {
  description: 'Not modified: If-None-Match has the current ETag.',
  headers: headers('ETag', 'Cache-Control', 'Vary'),
};

const minimal = (answer: Answer): JsonObject => ({
  description: 'Done; Prefer requested no body.',
  headers: headers(...successHeaders(answer)),
});

type Described = { readonly schemas: JsonSchemas; readonly operations: Operations };

const success = (operation: RestOperation, described: Described): JsonObject => {
  const { answer, query } = operation;
  return isOfLog(operation)
    ? successOfLog(answer, query, described)
    : successBeside(answer, described.schemas);
};

const successBeside = ({ description, kind, status, schema }: Answer, schemas: JsonSchemas): JsonObject => {
  const own = schema && schemas.of(schema, 'output');
  const link = kind === 'list' ? (['Link'] as const) : [];
  return {
    description,
    headers: headers(
      ...(status === 201 ? (['Location'] as const) : []),
      ...link,
      ...(own ? (['ETag', 'Cache-Control', 'Vary'] as const) : []),
    ),
    ...(own && {
      content: { 'application/json': { schema: kind === 'list' ? { type: 'array', items: own } : own } },
    }),
  };
};

const successOfLog = (answer: Answer, query: RestOperation['query'], described: Described): JsonObject => ({
  description: answer.description,
  headers: headers(
    ...successHeaders(answer),
    ...(query && 'at' in query.shape ? asOfHeaders(answer) : []),
    ...(query && 'text' in query.shape && answer.isStreamed ? SEARCHED : []),
  ),
  ...(answer.schema !== undefined && {
    content: {
      ...contentOf(answer.kind, schemaOf(answer, answer.schema, described)),
      ...(answer.isStreamed !== undefined && { 'text/event-stream': streamOf(answer.isStreamed) }),
    },
  }),
});

/** With `Prefer: return=representation`, a write returns the item instead. */
const schemaOf = ({ item }: Answer, schema: z.ZodType, { schemas, operations }: Described): JsonObject => {
  const own = schemas.of(schema, 'output');
  const read = item === undefined ? undefined : operations[item]?.answer.schema;
  return read === undefined ? own : { anyOf: [own, schemas.of(read, 'output')] };
};

/** OpenAPI 3.1 cannot describe the events of a stream. */
const streamOf = (says: true | string): JsonObject => ({
  schema: { type: 'string', description: says === true ? OF_EVENTS : says },
});
const OF_EVENTS = 'Each event is a message: `data` is its JSON, and `id` its cursor.';

const SEARCHED: readonly AnswerHeader[] = ['Searched-To'];

const asOfHeaders = ({ kind }: Answer): readonly AnswerHeader[] =>
  kind === 'item' ? ['As-Of', 'Memento-Datetime'] : ['As-Of'];

const successHeaders = (answer: Answer): readonly AnswerHeader[] => {
  const { kind, status, location, item } = answer;
  switch (kind) {
    case 'item':
      return ['ETag', 'Cache-Control', 'Vary'];
    case 'list':
      return ['ETag', 'Link', 'Cache-Control', 'Vary'];
    case 'lines':
    case 'sent':
      return ['Cache-Control', 'Vary'];
    case 'written':
      return [
        ...(status === 201 || location ? (['Location'] as const) : []),
        ...(takesPreference(answer) ? (['Preference-Applied', 'Vary'] as const) : []),
        ...(item === undefined ? [] : (['Content-Location'] as const)),
        'ETag',
        'Consistency-Token',
      ];
    case 'order':
      return ['Location', 'Cache-Control'];
    case 'nothing':
      return ['Consistency-Token'];
  }
};

/**
 * HAL is described once, in the conventions and `HalPage`: with a second media type per response, generators
 * make a union of both types for each list, or code that does not compile.
 */
const contentOf = (kind: Answer['kind'], schema: JsonObject): JsonObject => {
  if (kind === 'lines') return { [EXPORT_TYPE]: { schema } };
  return { 'application/json': { schema: kind === 'list' ? { type: 'array', items: schema } : schema } };
};

export const refusal = (
  status: number,
  codes: readonly ProblemCode[],
  titled = (code: ProblemCode): string => describeProblem(code).title,
): JsonObject => ({
  description: codes.map((code) => `\`${code}\` ${titled(code)}`).join('  \n'),
  headers: headers(...refusalHeaders(status)),
  content: {
    'application/problem+json': {
      // Without the codes, because generators make a type for each set of them, or no type of any problem.
      schema: { $ref: '#/components/schemas/Problem' },
      examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
    },
  },
});

const refusalHeaders = (status: number): readonly AnswerHeader[] => {
  if (status === 401 || status === 403) return ['WWW-Authenticate'];
  if (status === 409 || status === 429 || status === 503) return ['Retry-After'];
  return [];
};

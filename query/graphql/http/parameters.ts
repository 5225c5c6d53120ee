import type { Request } from 'express';
import * as z from 'zod';
import { parseJson } from '#edge/http/parse-json.ts';
import { parsePlainly } from '#kernel/base/plain-issues.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { fieldErrorsOf } from '#shared/json-pointers.ts';
import type { Named } from '../documents/persisted.ts';

/** The parameters of a request, whether GET or POST. */
export type GraphqlParameters = Named & {
  /** Empty if another parameter names the document. */
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Identifies the messages of the operation among those of others on the same stream. */
  readonly operationId: string | undefined;
};

const NAME_CHARACTERS_MAX = 200;

const Extensions = z.looseObject({
  operationId: z.string().min(1).max(NAME_CHARACTERS_MAX).optional(),
  persistedQuery: z
    .looseObject({ version: z.literal(1), sha256Hash: z.string().regex(/^[0-9a-f]{64}$/) })
    .optional(),
});

const Parameters = z.object({
  query: z.string().nullish(),
  documentId: z.string().min(1).max(NAME_CHARACTERS_MAX).nullish(),
  operationName: z.string().max(NAME_CHARACTERS_MAX).nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  extensions: Extensions.nullish(),
});

/** The parameters of a POST: the parsed body. Batches are not supported. */
export const bodyParameters = (body: unknown): GraphqlParameters => read(body);

/** The parameters of a GET: variables and extensions are JSON in the query. */
export const queryParameters = ({ query }: Request): GraphqlParameters =>
  read({
    ...query,
    variables: parseMember(query.variables, 'variables'),
    extensions: parseMember(query.extensions, 'extensions'),
  });

const read = (given: unknown): GraphqlParameters => {
  const parsed = parsePlainly(Parameters, given);
  if (!parsed.success) {
    throw new HttpProblem('malformed_request', {
      detail: 'This is not a GraphQL request.',
      extensions: { errors: fieldErrorsOf(parsed.error, given) },
    });
  }
  const { query, documentId, operationName, variables, extensions } = parsed.data;
  return {
    query: query ?? '',
    documentId: documentId ?? undefined,
    apqHash: extensions?.persistedQuery?.sha256Hash,
    operationName: operationName ?? undefined,
    variables: variables ?? {},
    operationId: extensions?.operationId,
  };
};

const parseMember = (text: unknown, name: string): unknown => {
  if (text === undefined || text === '') return undefined;
  try {
    return parseJson(String(text));
  } catch (cause) {
    const reason =
      cause instanceof HttpProblem && cause.code !== 'malformed_body'
        ? `: ${cause.message}`
        : ' must be JSON.';
    throw new HttpProblem('malformed_request', { detail: `${name}${reason}`, cause });
  }
};

import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { type Problem, problemOf } from '#shared/http/problem.ts';
import type { Log } from '#shared/process/log.ts';

/**
 * Turns what went wrong into what clients see: the codes are those of REST, and what nobody expected is
 * masked.
 */
export type FormatError = (error: GraphQLError) => GraphQLFormattedError;

/** As GraphQL has errors, what is none of its own. */
export const asGraphqlError = (cause: unknown): GraphQLError => {
  const originalError = cause instanceof Error ? cause : new Error(String(cause));
  return new GraphQLError(originalError.message, { originalError });
};

/**
 * What is not one of ours, and not of the GraphQL library itself, is logged whole and told only by the
 * request's id.
 */
export const createFormatError =
  (
    log: Log,
    { requestId, traceId }: { readonly requestId: string; readonly traceId?: string | undefined },
  ): FormatError =>
  (error) => {
    const { message, locations, path, extensions, originalError } = error;
    const place = { ...(locations && { locations }), ...(path && { path }) };
    if (!originalError || originalError instanceof GraphQLError) {
      return { message, ...place, extensions: { ...extensions, code: extensions.code ?? 'invalid_request' } };
    }
    const { status, body } = problemOf(originalError);
    if (status === INTERNAL)
      log.error({ err: originalError, requestId, traceId, path }, 'A field of a GraphQL operation failed.');
    const { message: shown, extensions: more } = formatProblem(body);
    return { message: shown, ...place, extensions: { ...more, ...(status >= INTERNAL && { requestId }) } };
  };

export const formatProblem = ({
  title,
  code,
  detail,
  type: _,
  status: __,
  ...more
}: Problem['body']): GraphQLFormattedError => ({
  message: detail ?? title,
  extensions: { code, ...more },
});

const INTERNAL = 500;

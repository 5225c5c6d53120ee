import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { type Problem, problemOf } from '#edge/http/problem.ts';
import type { Log } from '#shared/log.ts';

/** Turns errors into what clients see: refusals have the codes of REST, and unexpected errors are masked. */
type FormatError = (error: GraphQLError) => GraphQLFormattedError;

/** Wraps other errors as GraphQL errors. */
export const asGraphqlError = (cause: unknown): GraphQLError => {
  const originalError = cause instanceof Error ? cause : new Error(String(cause));
  return new GraphQLError(originalError.message, { originalError });
};

/**
 * An error that is neither ours nor the GraphQL library’s is logged in full, and clients get only the request
 * id.
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

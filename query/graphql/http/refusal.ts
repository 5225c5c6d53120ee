import type { ErrorRequestHandler, Request } from 'express';
import { AbortedGraphQLExecutionError } from 'graphql';
import { challengeFor } from '#edge/http/challenge.ts';
import { problemOf } from '#edge/http/problem.ts';
import { namesOf } from '#edge/http/request-span.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Log } from '#shared/log.ts';
import { Refused, WrongMethod } from '../documents/run.ts';
import { asGraphqlError, createFormatError } from '../rules/errors.ts';
import { answerOf, type Outcome, sendAnswer } from './answer.ts';

type Refusal = Outcome & { readonly headers?: Readonly<Record<string, string>> };

const PATH = /^\/graphql\/?$/i;

/**
 * Turns every refusal at our path into a GraphQL response, also those of earlier handlers: invalid tokens and
 * rate limits.
 */
export const answerGraphqlErrors =
  (log: Log, costMax: number): ErrorRequestHandler =>
  (error: unknown, request, response, next) => {
    if (response.headersSent || !PATH.test(request.path)) return next(error);
    // The client has disconnected, which aborted the operation.
    if (response.destroyed && isAbort(error)) return;
    const { headers, ...outcome } = refusalOf(error, request, { log, costMax });
    if (headers) response.set(headers);
    sendAnswer(request, response, answerOf(request, outcome));
  };

const isAbort = (error: unknown): boolean =>
  error instanceof AbortedGraphQLExecutionError || (error instanceof Error && error.name === 'AbortError');

const refusalOf = (
  error: unknown,
  request: Request,
  { log, costMax }: { readonly log: Log; readonly costMax: number },
): Refusal => {
  const format = createFormatError(log, namesOf(request));
  if (error instanceof Refused) {
    const cost =
      error.cost === undefined ? {} : { cost: { requestedQueryCost: error.cost, maximumQueryCost: costMax } };
    return {
      errors: error.errors.map(format),
      ...cost,
      ...(error.status !== undefined && { status: error.status }),
    };
  }
  const shown = error instanceof WrongMethod ? methodNotAllowed(error) : error;
  const { status, headers } = problemOf(shown);
  const challenge = challengeFor(request, shown);
  return {
    status,
    headers: { ...headers, ...(challenge !== undefined && { 'WWW-Authenticate': challenge }) },
    errors: [format(asGraphqlError(shown))],
  };
};

const methodNotAllowed = (cause: WrongMethod): HttpProblem =>
  new HttpProblem('method_not_allowed', { detail: cause.message, headers: { Allow: 'POST' }, cause });

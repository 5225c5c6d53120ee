import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { Log } from '#shared/process/log.ts';
import { challengeFor } from './authenticate/challenge.ts';
import { HttpProblem } from './http-problem.ts';
import { problemOf } from './problem.ts';
import { namesOf } from './request-span.ts';

/** The page of the documentation that explains each code. */
export const ERRORS_PATH = '/docs/errors';

/** The last route: nothing has answered. */
export const refuseUnknownPath: RequestHandler = () => {
  throw new HttpProblem('not_found');
};

/**
 * For `router.all(path, …)` after the methods that a path takes: tells who asks by `OPTIONS` or comes with
 * another which they are.
 */
export const refuseOtherMethods = (...methods: readonly string[]): RequestHandler => {
  const headers = { Allow: [...new Set([...methods, 'OPTIONS'])].join(', ') };
  return (request, response) => {
    if (request.method !== 'OPTIONS') throw new HttpProblem('method_not_allowed', { headers });
    response.set(headers).status(204).end();
  };
};

/**
 * The one place where errors become answers. What nobody expected is logged whole and told to the client only
 * by its request id.
 */
export const answerErrors =
  (log: Log): ErrorRequestHandler =>
  (error: unknown, request, response, _next) => {
    const names = namesOf(request);
    const { status, headers, body } = problemOf(error);
    // Who has too much to do does not write more of it into the log than the line that each request has.
    if (status >= 500 && body.code !== 'overloaded')
      logFailure(log, error, { code: body.code, ...names, method: request.method, path: request.path });
    // The answer has begun and cannot be taken back: the client must see that it is not whole.
    if (response.headersSent) return void response.destroy();
    for (const name of response.getHeaderNames()) if (OF_THE_BODY.has(name)) response.removeHeader(name);
    const challenge = challengeFor(request, error);
    const all = challenge === undefined ? headers : { ...headers, 'WWW-Authenticate': challenge };
    const help = `<${ERRORS_PATH}#${body.code}>; rel="help"`;
    response
      .status(status)
      .set(all)
      .set({ 'Cache-Control': 'no-store', Link: help })
      .type('application/problem+json');
    response.send(JSON.stringify({ ...body, requestId: names.requestId }));
  };

type Failure = {
  readonly code: string;
  readonly requestId: string;
  readonly traceId?: string;
  readonly method: string;
  readonly path: string;
};

/**
 * What is provided for, such as a database that is away for a moment, is no fault of the program, and a stack
 * would tell nothing of it.
 */
const logFailure = (log: Log, error: unknown, failure: Failure): void => {
  if (failure.code === 'internal') log.error({ err: error, ...failure }, 'A request failed.');
  else log.warn({ ...failure, ...reasonOf(error) }, 'A request was put off.');
};

const reasonOf = (error: unknown): { readonly reason: string; readonly cause?: string } => {
  if (!(error instanceof Error)) return { reason: String(error) };
  return { reason: error.message, ...(error.cause instanceof Error && { cause: error.cause.message }) };
};

/** Headers that a route may have set for an answer that it then did not give. */
const OF_THE_BODY = new Set([
  'etag',
  'last-modified',
  'content-encoding',
  'content-language',
  'content-disposition',
  'location',
]);

import type { ErrorRequestHandler, RequestHandler } from 'express';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Log } from '#shared/log.ts';
import { causesOf } from '#shared/outage-lines.ts';
import { challengeFor } from './challenge.ts';
import { problemOf } from './problem.ts';
import { namesOf } from './request-span.ts';

/** The page of the documentation that explains each code. */
export const ERRORS_PATH = '/docs/errors';

/** The last route: no other has answered. */
export const refuseUnknownPath: RequestHandler = () => {
  throw new HttpProblem('not_found');
};

/**
 * For `router.all(path, …)` after the methods of a path: answers `OPTIONS` and refuses other methods, with
 * the list of allowed ones.
 */
export const refuseOtherMethods = (...methods: readonly string[]): RequestHandler => {
  const headers = { Allow: [...new Set([...methods, 'OPTIONS'])].join(', ') };
  return (request, response) => {
    if (request.method !== 'OPTIONS') throw new HttpProblem('method_not_allowed', { headers });
    response.set(headers).status(204).end();
  };
};

/**
 * Turns every error into a response. Logs an unexpected error whole; the client gets only its request id. A link
 * leads to the page that explains the code, if the installation has it.
 */
export const answerErrors =
  (log: Log, { isExplained = true } = {}): ErrorRequestHandler =>
  (error: unknown, request, response, _next) => {
    const names = namesOf(request);
    const { status, headers, body } = problemOf(error);
    // An overloaded process writes no more about it to the log than the line of each request.
    if (status >= 500 && body.code !== 'overloaded')
      logFailure(log, error, { code: body.code, ...names, method: request.method, path: request.path });
    // The response has begun and cannot be taken back: the client must see that it is incomplete.
    if (response.headersSent) return void response.destroy();
    for (const name of response.getHeaderNames()) if (OF_THE_BODY.has(name)) response.removeHeader(name);
    const challenge = challengeFor(request, error);
    const all = challenge === undefined ? headers : { ...headers, 'WWW-Authenticate': challenge };
    const help = isExplained && { Link: `<${ERRORS_PATH}#${body.code}>; rel="help"` };
    response
      .status(status)
      .set(all)
      .set({ 'Cache-Control': 'no-store', ...help })
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
 * An expected failure, such as an unreachable database, is no fault of the program, so its stack is useless.
 */
const logFailure = (log: Log, error: unknown, failure: Failure): void => {
  if (failure.code === 'internal') log.error({ err: error, ...failure }, 'A request failed.');
  else log.warn({ ...failure, ...reasonOf(error) }, 'A request failed temporarily.');
};

const reasonOf = (error: unknown): { readonly reason: string; readonly cause?: string } => {
  if (!(error instanceof Error)) return { reason: String(error) };
  return { reason: error.message, ...(error.cause instanceof Error && { cause: causesOf(error) }) };
};

/** Headers that a route may have set for a response that it then did not send. */
const OF_THE_BODY = new Set([
  'etag',
  'last-modified',
  'content-encoding',
  'content-language',
  'content-disposition',
  'location',
]);

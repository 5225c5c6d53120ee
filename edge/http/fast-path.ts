import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import {
  type ErrorRequestHandler,
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import { inSequence } from './in-sequence.ts';
import { requestFact } from './request-fact.ts';

/** A fast path for requests so frequent that finding their route would cost more than answering them. */
export type FastPath = {
  takes(request: IncomingMessage): boolean;
  /** The same handlers as on the slow path, in the same order; the last one answers. */
  readonly handlers: readonly RequestHandler[];
  /** Called after a handler has failed; the last one answers. */
  readonly failures: readonly ErrorRequestHandler[];
};

/** Serves the requests that a fast path takes, and leaves all others to the app. */
export const withFastPaths = (app: Express, paths: readonly FastPath[]): RequestListener => {
  const passing = paths.map((path) => ({ takes: path.takes, pass: passBy(path) }));
  return (incoming, outgoing) => {
    const path = passing.find(({ takes }) => takes(incoming));
    if (path === undefined) return void app(incoming, outgoing);
    const { request, response } = dress(app, incoming, outgoing);
    path.pass(request, response);
  };
};

type Pass = (request: Request, response: Response) => void;

const passBy = ({ handlers, failures }: FastPath): Pass => {
  // Failures are rare, so the app handles them.
  const failing = Router().use(failAgain, ...failures);
  const all = inSequence(handlers);
  return (request, response) => {
    const next: NextFunction = (error?: unknown) => {
      if (error === undefined) return;
      causes.set(request, { error });
      failing(request, response, () => void response.destroy());
    };
    all(request, response, next);
  };
};

const causes = requestFact<{ readonly error: unknown }>('cause');

const failAgain: RequestHandler = (request, _response, next) => next(causes.of(request)?.error);

/** Prepares request and response as the app and its router do before the first handler. */
const dress = (
  app: Express,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): { request: Request; response: Response } => {
  const request: Request = Object.setPrototypeOf(incoming, app.request);
  const response: Response = Object.setPrototypeOf(outgoing, app.response);
  request.res = response;
  request.originalUrl = request.url;
  request.baseUrl = '';
  response.locals = {};
  return { request, response };
};

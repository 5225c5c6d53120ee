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
import { requestFact } from './request-fact.ts';

/** A request that comes so often that finding its route would cost more than answering it. */
export type ShortWay = {
  takes(request: IncomingMessage): boolean;
  /** All that it passes on the long way too, in the same order; the last answers. */
  readonly handlers: readonly RequestHandler[];
  /** What comes after a handler has failed; the last answers. */
  readonly failures: readonly ErrorRequestHandler[];
};

/** Serves by a short way what it takes, and by the app all else. */
export const withShortWays = (app: Express, ways: readonly ShortWay[]): RequestListener => {
  const passing = ways.map((way) => ({ takes: way.takes, pass: passBy(way) }));
  return (incoming, outgoing) => {
    const way = passing.find(({ takes }) => takes(incoming));
    if (way === undefined) return void app(incoming, outgoing);
    const { request, response } = dress(app, incoming, outgoing);
    way.pass(request, response, 0);
  };
};

type Pass = (request: Request, response: Response, place: number) => void;

const passBy = ({ handlers, failures }: ShortWay): Pass => {
  // Failures are rare: they go as they do in the app.
  const failing = Router().use(failAgain, ...failures);
  const pass: Pass = (request, response, place) => {
    const next: NextFunction = (error?: unknown) => {
      if (error === undefined) return pass(request, response, place + 1);
      causes.set(request, { error });
      failing(request, response, () => void response.destroy());
    };
    // A handler fails by throwing, or later by its promise.
    try {
      const result: unknown = handlers[place]?.(request, response, next);
      if (result instanceof Promise) result.catch(next);
    } catch (error) {
      next(error);
    }
  };
  return pass;
};

const causes = requestFact<{ readonly error: unknown }>('cause');

const failAgain: RequestHandler = (request, _response, next) => next(causes.of(request)?.error);

/** What the app and its router do to them before the first handler. */
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

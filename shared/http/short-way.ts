import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ErrorRequestHandler, Express, NextFunction, Request, RequestHandler, Response } from 'express';

/** A request that comes so often that finding its route would cost more than answering it. */
export type ShortWay = {
  takes(request: IncomingMessage): boolean;
  /** All that it passes on the long way too, in the same order; the last answers. */
  readonly handlers: readonly RequestHandler[];
  /** What comes after a handler has failed; the last answers. */
  readonly failures: readonly ErrorRequestHandler[];
};

/** Serves by the short way what it takes, and by the app all else. */
export const withShortWay = (app: Express, { takes, handlers, failures }: ShortWay): RequestListener => {
  const pass = (request: Request, response: Response, place = 0): void => {
    const next: NextFunction = (error?: unknown) =>
      error === undefined ? pass(request, response, place + 1) : fail(error, request, response);
    attempt(() => handlers[place]?.(request, response, next), next);
  };
  const fail = (error: unknown, request: Request, response: Response, place = 0): void => {
    const next: NextFunction = (other: unknown = error) => fail(other, request, response, place + 1);
    attempt(() => failures[place]?.(error, request, response, next), next);
  };
  return (incoming, outgoing) => {
    if (!takes(incoming)) return void app(incoming, outgoing);
    const { request, response } = dress(app, incoming, outgoing);
    pass(request, response);
  };
};

/** A handler fails by throwing, or later by its promise. */
const attempt = (handle: () => unknown, onFailure: (error: unknown) => void): void => {
  try {
    const result = handle();
    if (result instanceof Promise) result.catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
};

/** What the app does to them before its first handler. */
const dress = (app: Express, incoming: IncomingMessage, outgoing: ServerResponse): { request: Request; response: Response } => {
  const request: Request = Object.setPrototypeOf(incoming, app.request);
  const response: Response = Object.setPrototypeOf(outgoing, app.response);
  request.res = response;
  response.locals = {};
  return { request, response };
};

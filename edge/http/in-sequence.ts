import type { ErrorRequestHandler, NextFunction, RequestHandler } from 'express';

/**
 * One handler that calls several, one after the other, as a router would that has only them. But a router leaves to
 * the next turn of the event loop what comes after its last handler.
 */
export const inSequence =
  (handlers: readonly RequestHandler[], onFailure?: ErrorRequestHandler): RequestHandler =>
  (request, response, next) => {
    let place = 0;
    const fail = (error: unknown) => {
      if (onFailure === undefined) return next(error);
      const result: unknown = onFailure(error, request, response, next);
      if (result instanceof Promise) result.catch(next);
    };
    const pass: NextFunction = (error?: unknown) => {
      if (error === 'router') return next();
      // A router that a handler has left passes null.
      if (error !== undefined && error !== null && error !== 'route') return fail(error);
      const handler = handlers[place];
      place += 1;
      if (handler === undefined) return next();
      // A handler fails by throwing, or later by its promise.
      try {
        const result: unknown = handler(request, response, pass);
        if (result instanceof Promise) result.catch(fail);
      } catch (failure) {
        fail(failure);
      }
    };
    pass();
  };

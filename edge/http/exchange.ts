import type { ServerOptions } from 'node:http';
import type { Express } from 'express';
import { IncomingMessage, ServerResponse } from './node-http.ts';

/**
 * The classes of requests and responses, with the prototypes of the Express app. Otherwise Express changes
 * the prototype of each object, which costs more than most handlers do.
 */
export const exchangeOf = (app: Express): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> => {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse as typeof ServerResponse };
};

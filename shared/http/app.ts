import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Router } from 'express';
import type { Registry } from 'prom-client';
import type { Log } from '#shared/log.ts';
import type { Tracing } from '#shared/tracing/tracing.ts';
import { answerErrors, refuseUnknownPath } from './answer-errors.ts';
import { observeRequests } from './observe-requests.ts';
import { identifyRequest } from './request-context.ts';
import { traceRequests } from './trace-requests.ts';

export type AppOptions = {
  readonly log: Log;
  readonly metrics: Registry;
  readonly routes: readonly (Router | ErrorRequestHandler)[];
  /** How many proxies in front are believed about where a request comes from. */
  readonly trustProxy?: number;
  /** Off unless given. */
  readonly tracing?: Tracing;
};

/** The HTTP of a role: every request is identified, observed, routed, and answered, whatever happens to it. */
export const createApp = ({ trustProxy = 0, routes, ...options }: AppOptions): Express => {
  const app = express();
  app.disable('x-powered-by');
  // Entity tags are made by those who know the version, not by hashing what goes out.
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', trustProxy);
  app.use(...firstHandlers(options));
  for (const router of routes) app.use(router);
  app.use(refuseUnknownPath, answerErrors(options.log));
  return app;
};

/** What every request passes first, whatever it is for. */
export const firstHandlers = ({ log, metrics, tracing }: Pick<AppOptions, 'log' | 'metrics' | 'tracing'>): readonly RequestHandler[] => [
  identifyRequest,
  ...(tracing?.isOn ? [traceRequests(tracing)] : []),
  observeRequests(log, metrics),
  takeTypesAsSaid,
];

const takeTypesAsSaid: RequestHandler = (_request, response, next) => {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  next();
};

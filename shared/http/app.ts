import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler, type Response, type Router } from 'express';
import type { Registry } from 'prom-client';
import type { Log } from '#shared/log.ts';
import type { Span, Tracing } from '#shared/tracing/tracing.ts';
import { answerErrors, refuseUnknownPath } from './answer-errors.ts';
import { METHODS, observeRequests } from './observe-requests.ts';
import { identifyRequest, requestIdOf } from './request-context.ts';
import { keepSpan } from './request-span.ts';

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

/** Asked every few seconds by machines. */
const UNTRACED: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** Served without a route of Express: GraphQL by its short way, and what the authorization server finds by itself. */
const FIXED_PATHS: ReadonlySet<string> = new Set([
  '/graphql',
  '/authorize',
  '/token',
  '/jwks',
  '/introspect',
  '/revoke',
  '/userinfo',
  '/par',
  '/device',
  '/device/code',
]);
const SERVER_ERROR = 500;

/**
 * A span for each request, which goes on with the trace that it brings along. It is named by its route and says neither path nor
 * query: those may hold what is nobody's business.
 */
const traceRequests =
  (tracing: Tracing): RequestHandler =>
  (request, response, next) => {
    // The router shortens it while it looks for a route.
    const { path } = request;
    if (UNTRACED.has(path)) return next();
    const method = METHODS.has(request.method) ? request.method : '_OTHER';
    const span = tracing.start(method === '_OTHER' ? 'HTTP' : method, {
      parent: request.get('traceparent'),
      kind: 'server',
      attributes: {
        'http.request.method': method,
        'url.scheme': request.protocol,
        'network.protocol.version': request.httpVersion,
        'annals.request.id': requestIdOf(request),
      },
    });
    keepSpan(request, span);
    response.once('close', () => finish(span, { request, response, method, path }));
    next();
  };

type Answered = { readonly request: Request; readonly response: Response; readonly method: string; readonly path: string };

const finish = (span: Span, { request, response, method, path }: Answered): void => {
  const route = routeOf(request, path);
  if (route !== undefined) span.rename(`${method} ${route}`);
  // Who leaves before there was an answer has got no status.
  const status = response.headersSent ? response.statusCode : undefined;
  span.set({ 'http.route': route, 'http.response.status_code': status });
  if (status !== undefined && status >= SERVER_ERROR) span.fail(String(status));
  span.end();
};

const routeOf = (request: Request, path: string): string | undefined => {
  const route: unknown = request.route?.path;
  if (typeof route === 'string' && request.baseUrl === '') return route;
  return FIXED_PATHS.has(path) ? path : undefined;
};

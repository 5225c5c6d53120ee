import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { Log } from '#shared/log.ts';
import { Histogram, type Registry } from '#shared/prometheus.ts';
import type { Span, Tracing } from '#shared/tracing/tracing.ts';
import { answerErrors, refuseUnknownPath } from './answer-errors.ts';
import { identifyRequest, requestIdOf } from './request-context.ts';
import { keepSpan, namesOf } from './request-span.ts';
import { vary } from './vary.ts';

type AppOptions = {
  readonly log: Log;
  readonly metrics: Registry;
  readonly routes: readonly (RequestHandler | ErrorRequestHandler)[];
  /** The number of trusted proxies in front. */
  readonly trustProxy?: number;
  /** Off by default. */
  readonly tracing?: Tracing;
  /** `info` by default. */
  readonly requestLogLevel?: 'debug' | 'info';
  /** Whether pages of the installation explain the codes of errors; true by default. */
  readonly explainsErrors?: boolean;
};

/** The HTTP stack of a role: it identifies, observes, routes and answers every request. */
export const createApp = ({
  trustProxy = 0,
  routes,
  explainsErrors: isExplained = true,
  ...options
}: AppOptions): Express => {
  const app = express();
  app.disable('x-powered-by');
  // Entity tags come from versions, not from a hash of the response.
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', trustProxy);
  app.response.vary = vary;
  app.use(...firstHandlers(options));
  for (const router of routes) app.use(router);
  app.use(refuseUnknownPath, answerErrors(options.log, { isExplained }));
  return app;
};

/** The first handlers of every request, on any route. */
export const firstHandlers = ({
  log,
  metrics,
  tracing,
  requestLogLevel = 'info',
}: Pick<AppOptions, 'log' | 'metrics' | 'tracing' | 'requestLogLevel'>): readonly RequestHandler[] => [
  identifyRequest,
  ...(tracing?.isOn ? [traceRequests(tracing)] : []),
  observeRequests(log, requestLogLevel, metrics),
  takeTypesAsSaid,
];

const takeTypesAsSaid: RequestHandler = (_request, response, next) => {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  next();
};

/** Machines request these every few seconds. */
const UNTRACED: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** Served without a route of Express: by a fast path, or by the router of the authorization server. */
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
 * Starts a span for each request, which continues the trace of the caller. The span is named by its route and
 * has neither path nor query, because those may hold private data.
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
    response.on('close', () => finish(span, { request, response, method, path }));
    next();
  };

type Answered = {
  readonly request: Request;
  readonly response: Response;
  readonly method: string;
  readonly path: string;
};

const finish = (span: Span, { request, response, method, path }: Answered): void => {
  const route = routeOf(request, path);
  if (route !== undefined) span.rename(`${method} ${route}`);
  // If the client left before the response, there is no status.
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

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MS_PER_SECOND = 1_000;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Logs and times every response. The log leaves out the query, which may hold a token or an address. */
const observeRequests = (
  log: Log,
  usual: NonNullable<AppOptions['requestLogLevel']>,
  registry: Registry,
): RequestHandler => {
  const duration = durationIn(registry);
  return (request, response, next) => {
    const startedMs = performance.now();
    // The router shortens these while it looks for a route.
    const { method, path } = request;
    response.on('close', () => {
      const seconds = (performance.now() - startedMs) / MS_PER_SECOND;
      const status = response.writableFinished ? response.statusCode : 499;
      duration.observe({ method: METHODS.has(method) ? method : 'other', status }, seconds);
      const level = UNTRACED.has(path) ? 'debug' : status >= SERVER_ERROR ? 'info' : usual;
      log[level](
        { ...namesOf(request), method, path, status, ms: Math.round(seconds * 1_000_000) / 1_000 },
        'request',
      );
    });
    next();
  };
};

const NAME = 'annals_http_request_duration_seconds';

/** A process with two listeners counts both in one metric. */
const durationIn = (registry: Registry): Histogram<'method' | 'status'> =>
  (registry.getSingleMetric(NAME) as Histogram<'method' | 'status'> | undefined) ??
  new Histogram({
    name: NAME,
    help: 'The time from the headers of a request to the end of its response.',
    labelNames: ['method', 'status'],
    buckets: SECONDS,
    registers: [registry],
  });

import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { answerErrors } from '#edge/http/answer-errors.ts';
import { createApp, firstHandlers } from '#edge/http/app.ts';
import { corsHandler, type IsPage } from '#edge/http/cors.ts';
import { exchangeOf } from '#edge/http/exchange.ts';
import { type FastPath, withFastPaths } from '#edge/http/fast-path.ts';
import { healthRoutes } from '#edge/http/health.ts';
import { inSequence } from '#edge/http/in-sequence.ts';
import { type Authentication, rateLimiter } from '#edge/http/limit-rate.ts';
import { rootRoutes } from '#edge/http/root.ts';
import type { Link } from '#edge/http/root-page.ts';
import { type HttpServer, startHttpServer } from '#edge/http/server.ts';
import { openLoadShedder } from '#edge/http/shed-load.ts';
import type { Upgrades } from '#edge/http/upgrade.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { WorkerLink } from '#process/workers/link.ts';
import { NO_TRACING } from '#shared/tracing/tracing.ts';
import packageJson from '../package.json' with { type: 'json' };
import type { Config } from './config.ts';
import type { Foundation } from './foundation.ts';
import { startMetricsServer } from './observability/metrics.ts';
import type { ProcessContext } from './run.ts';

/**
 * The part of `DRAIN_MS` for requests in flight, after the notice; the rest is for closing their resources.
 */
export const drainingOf = (
  { drainMs, drainNoticeMs }: Pick<Config, 'drainMs' | 'drainNoticeMs'>,
  worker?: WorkerLink,
) => ({
  drainMs: HTTP_SHARE_OF_DRAIN * (drainMs - drainNoticeMs),
  lingerMs: () => (drainNoticeMs === 0 && worker?.isReplaced !== true ? 0 : LINGER_MS),
});

/** Longer than the ingress keeps an idle connection. */
const LINGER_MS = 2_500;
const HTTP_SHARE_OF_DRAIN = 0.7;

const LINKS: readonly Link[] = [
  { rel: 'alive', href: '/livez', title: 'Whether the process lives' },
  { rel: 'ready', href: '/readyz', title: 'Readiness of the process' },
];

/** The part that differs between roles. */
export type Served = {
  readonly routes: readonly (RequestHandler | ErrorRequestHandler)[];
  readonly links: readonly Link[];
  /** Whether its first page offers the demo. */
  readonly offersDemo?: (() => Promise<boolean>) | undefined;
  /** Identifies the caller, before every route but those of health. */
  readonly authentication?: Authentication;
  /** The paths that are pages for people. */
  readonly isPage?: IsPage;
  /** Frequent requests that skip the router; the routes would answer them in the same way. */
  readonly fastPaths?: readonly FastPath[];
  /** The requests that may leave HTTP. */
  readonly upgrades?: Upgrades | undefined;
  /** Another server of the same process: the two drain at the same time, because they share one deadline. */
  readonly beside?: HttpServer;
};

type Serving = Pick<ProcessContext, 'config' | 'log' | 'resources' | 'worker' | 'beforeListening'>;

/** Serves clients on PORT and metrics on METRICS_PORT until the process receives a stop signal. */
export const serveClients = async (
  { config, log, resources, worker, beforeListening }: Serving,
  {
    domain,
    clock,
    health,
    metrics,
    rateLimits,
    tracing = NO_TRACING,
  }: Pick<Foundation, 'domain' | 'clock' | 'health' | 'metrics' | 'rateLimits'> & Partial<Foundation>,
  { routes, links, offersDemo, isPage, authentication, fastPaths = [], upgrades, beside }: Served,
): Promise<{ readonly url: string }> => {
  const { http: listener, tls, limits, drainNoticeMs, trustProxy, corsOrigins } = config;
  const { client, anonymous } = config.rateLimits;
  const forBrowsers = [demandHttps(config), corsHandler(corsOrigins, isPage)];
  const limiter = rateLimiter({ limits: rateLimits, client, anonymous, metrics, authentication });
  const shedder = resources.use(openLoadShedder(config.load, metrics));
  // Health checks are answered whatever the load.
  const common = [
    ...forBrowsers,
    healthRoutes(health),
    inSequence([shedder.handler, ...limiter.handlers], limiter.onFailure),
    rootRoutes({ version: packageJson.version, domain, links: [...LINKS, ...links], offersDemo }),
  ];
  const observed = { log, metrics, tracing, requestLogLevel: config.requestLogLevel };
  const isExplained = serves(domain, 'docs');
  const app = createApp({
    ...observed,
    routes: [...common, ...routes],
    trustProxy,
    explainsErrors: isExplained,
  });
  const first = [...firstHandlers(observed), ...forBrowsers, shedder.handler, ...limiter.handlers];
  const completePaths = fastPaths.map(({ takes, handlers, failures }) => ({
    takes,
    handlers: [...first, ...handlers],
    failures: [limiter.onFailure, ...failures, answerErrors(log, { isExplained })],
  }));
  const handler = withFastPaths(app, completePaths);
  await beforeListening?.();
  resources.use(
    worker === undefined
      ? await startMetricsServer(metrics, config.metrics)
      : worker.report({ metrics, health }),
  );
  const server = resources.use(
    await startHttpServer({
      handler,
      exchange: exchangeOf(app),
      upgrades,
      listener,
      setting: 'PORT',
      tls,
      limits,
      ...drainingOf(config, worker),
      // A subscriber reconnects immediately, over a connection that leads to another process.
      whenIdleAreClosed: () => {
        if (worker?.isReplaced) health.drain({ isReplaced: true });
      },
      log,
      clock,
      metrics,
    }),
  );
  // Disposing of a server again only waits for it.
  if (beside)
    resources.defer(
      async () => void (await Promise.all([server, beside].map((each) => each[Symbol.asyncDispose]()))),
    );
  resources.defer(async () => {
    const isReplaced = worker?.isReplaced === true;
    if (!isReplaced) health.drain();
    for (const each of beside ? [server, beside] : [server]) each.leave();
    if (!isReplaced) await delay(drainNoticeMs);
  });
  if (worker === undefined) log.info({ url: server.url }, 'Annals is ready.');
  else await worker.primary.ask('ready', { url: server.url });
  return server;
};

/** A year. Leaves out subdomains, which are not ours. */
const HEADER = ['Strict-Transport-Security', 'max-age=31536000'] as const;

/**
 * Instructs browsers to use only https from now on (RFC 6797), if that is the public address of this
 * installation. Over plain http, as behind a proxy that ends TLS, they ignore it. Not in development, where a
 * host such as localhost has other ports as well.
 */
const demandHttps = ({
  environment,
  publicUrl,
}: Pick<Config, 'environment' | 'publicUrl'>): RequestHandler => {
  const isDemanded = environment === 'production' && publicUrl.startsWith('https:');
  return (_request, response, next) => {
    if (isDemanded) response.setHeader(...HEADER);
    next();
  };
};

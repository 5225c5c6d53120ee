import type { RequestHandler } from 'express';
import { Histogram, type Registry } from 'prom-client';
import type { Log } from '#shared/log.ts';
import { namesOf } from './request-span.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MS_PER_SECOND = 1_000;
export const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Logs and times every answer. The path goes without its query, which may hold a token or an address. */
export const observeRequests = (log: Log, registry: Registry): RequestHandler => {
  const duration = durationIn(registry);
  return (request, response, next) => {
    const startedMs = performance.now();
    // The router shortens these while it looks for a route.
    const { method, path } = request;
    response.once('close', () => {
      const seconds = (performance.now() - startedMs) / MS_PER_SECOND;
      const status = response.writableFinished ? response.statusCode : 499;
      duration.observe({ method: METHODS.has(method) ? method : 'other', status }, seconds);
      const level = path === '/livez' || path === '/readyz' ? 'debug' : 'info';
      log[level]({ ...namesOf(request), method, path, status, ms: Math.round(seconds * 1_000_000) / 1_000 }, 'request');
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
    help: 'From the headers of a request to the end of its answer.',
    labelNames: ['method', 'status'],
    buckets: SECONDS,
    registers: [registry],
  });

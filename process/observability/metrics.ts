import type { Listener } from '#edge/http/listen.ts';
import { listen } from '#edge/http/listen.ts';
import { createServer } from '#edge/http/node-http.ts';
import { collectDefaultMetrics, Registry } from '#shared/prometheus.ts';

/** How often the lag of the event loop is measured: each time wakes the process, also an idle one. */
const LAG_EVERY_MS = 100;

/** The metrics of this process, with those of Node itself. */
export const createMetrics = (): Registry => {
  const registry = new Registry();
  collectDefaultMetrics(registry, { eventLoopMonitoringPrecision: LAG_EVERY_MS });
  return registry;
};

const TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 20;

/** Serves `/metrics` on a port of its own, so that no client ever reaches it. */
export const startMetricsServer = async (
  registry: Pick<Registry, 'metrics' | 'contentType'>,
  listener: Listener,
): Promise<AsyncDisposable & { readonly url: string }> => {
  const server = createServer(
    { requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS },
    async (request, response) => {
      if (request.url !== '/metrics') return void response.writeHead(404).end();
      if (request.method !== 'GET' && request.method !== 'HEAD')
        return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
      try {
        const text = await registry.metrics();
        response.writeHead(200, { 'Content-Type': registry.contentType }).end(text);
      } catch {
        response.writeHead(500).end();
      }
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  const url = await listen(server, { ...listener, setting: 'METRICS_PORT' });
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { HttpLimits, Listener } from '#shared/config.ts';
import type { Log } from '#shared/log.ts';
import { answerBrokenRequest } from './broken-request.ts';
import { listen } from './listen.ts';

export type HttpServerOptions = {
  readonly handler: RequestListener;
  readonly listener: Listener;
  /** The setting that the port comes from, for the message when it is taken. */
  readonly setting: 'PORT' | 'INTERNAL_PORT';
  readonly limits: HttpLimits;
  /** How long requests in flight may go on after disposal has begun. */
  readonly drainMs: number;
  readonly log: Log;
};

export type HttpServer = AsyncDisposable & { readonly url: string };

/** Longer than the usual idle timeout of a proxy in front (60 s), so that it is never this side that hangs up on a request. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const TIMEOUT_CHECKS_MAX_MS = 5_000;

/** Serves HTTP within limits. Disposal takes no new connections, lets requests in flight finish, and ends what lasts too long. */
export const startHttpServer = async ({ handler, listener, setting, limits, drainMs, log }: HttpServerOptions): Promise<HttpServer> => {
  const server = createServer({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs),
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, TIMEOUT_CHECKS_MAX_MS),
  });
  server.maxConnections = limits.connectionsMax;
  server.on('drop', () => log.warn({ connectionsMax: limits.connectionsMax }, 'A connection was refused: CONNECTIONS_MAX is reached.'));
  server.on('clientError', answerBrokenRequest);
  const inFlight = trackResponses(server);
  server.on('request', handler);
  const url = await listen(server, { ...listener, setting });
  let drained: Promise<void> | undefined;
  return {
    url,
    [Symbol.asyncDispose]: () => {
      drained ??= drain(server, inFlight, { drainMs, log });
      return drained;
    },
  };
};

const trackResponses = (server: Server): ReadonlySet<ServerResponse> => {
  const inFlight = new Set<ServerResponse>();
  server.on('request', (_request, response) => {
    inFlight.add(response);
    response.once('close', () => {
      inFlight.delete(response);
      // While draining, a connection that has had its answer is of no more use.
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    });
    if (!server.listening) response.shouldKeepAlive = false;
  });
  return inFlight;
};

const drain = async (
  server: Server,
  inFlight: ReadonlySet<ServerResponse>,
  { drainMs, log }: { drainMs: number; log: Log },
): Promise<void> => {
  const closed = once(server, 'close');
  server.close();
  for (const response of inFlight) response.shouldKeepAlive = false;
  const finished = new AbortController();
  const deadline = delay(drainMs, 'late' as const, { signal: finished.signal }).catch(() => 'aborted' as const);
  if ((await Promise.race([closed, deadline])) === 'late') {
    log.warn({ inFlight: inFlight.size }, 'Requests that took too long were cut off.');
    server.closeAllConnections();
    await closed;
  }
  finished.abort();
};

import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Registry } from 'prom-client';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import { limitBodyTime } from './body-time.ts';
import { answerBrokenRequest } from './broken-request.ts';
import { drain, type Leaving, leave, type Traffic, trackConnections, trackResponses } from './drain.ts';
import { createDrainRedirect } from './drain-redirect.ts';
import { limitConnections } from './limit-connections.ts';
import { type Listener, listen } from './listen.ts';
import { createServer } from './node-http.ts';
import { demandOneHost } from './one-host.ts';
import { readTls, type TlsFiles } from './tls-files.ts';
import type { Upgrades } from './upgrade.ts';

export type HttpLimits = {
  readonly bodyBytesMax: number;
  readonly headerBytesMax: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly connectionsMax: number;
};

type HttpServerOptions = {
  readonly handler: RequestListener;
  readonly listener: Listener;
  /** The setting of the port, for the message if it is in use. */
  readonly setting: 'PORT' | 'INTERNAL_PORT';
  /** Undefined means plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  readonly limits: HttpLimits;
  /** The time for requests in flight after disposal has begun. */
  readonly drainMs: number;
  /**
   * The part of that in which peers close idle connections themselves: if the server closes one, the peer may
   * have a request under way on it.
   */
  readonly lingerMs?: () => number;
  /** Called during the drain, once only requests in flight are left, streams among them. */
  readonly whenIdleAreClosed?: () => void;
  /** The idle timeout of a connection; a peer that gets it in a header closes it somewhat earlier. */
  readonly keepAliveMs?: number;
  readonly log: Log;
  readonly clock: Clock;
  /** The classes of requests and responses; Node’s own by default. */
  readonly exchange?: Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>;
  /** The requests that may leave HTTP; none by default. */
  readonly upgrades?: Upgrades | undefined;
  /** Counts the connections of one server in a process. */
  readonly metrics?: Registry;
};

export type HttpServer = AsyncDisposable & {
  readonly url: string;
  /**
   * From now on every response ends its connection, so that nobody keeps one for later. The server still
   * accepts requests, unless another replica can take them.
   */
  leave(): void;
};

/**
 * Longer than the usual idle timeout of a proxy in front (60 s), so that never this side closes a connection
 * with a request under way.
 */
const KEEP_ALIVE_MS = 65_000;
const TIMEOUT_CHECKS_MAX_MS = 5_000;
/** The longest time that any route may take to read a body. */
const REQUEST_TIMEOUT_MAX_MS = 900_000;

/**
 * Serves HTTP within limits. Disposal accepts no new connections, lets requests in flight finish, and cuts
 * off those that outlast the drain.
 */
export const startHttpServer = async (options: HttpServerOptions): Promise<HttpServer> => {
  const {
    handler,
    listener,
    setting,
    tls,
    limits,
    lingerMs = () => 0,
    keepAliveMs = KEEP_ALIVE_MS,
    log,
    clock,
    metrics,
    exchange,
    upgrades,
  } = options;
  const timing = {
    ...exchange,
    // Other requests with `Upgrade` are served as if they had none.
    ...(upgrades && { shouldUpgradeCallback: upgrades }),
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs),
    // Bodies are timed by request, because some routes allow more time.
    requestTimeout: Math.max(limits.requestTimeoutMs, REQUEST_TIMEOUT_MAX_MS),
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, TIMEOUT_CHECKS_MAX_MS),
  };
  const server: Server =
    tls === undefined
      ? createServer(timing)
      : createTlsServer({ ...timing, ...shaking(limits), ...(await readTls(tls)) });
  limitConnections(server, { ...limits, log, metrics });
  server.on('clientError', answerBrokenRequest);
  const redirect = createDrainRedirect(demandOneHost(handler), clock);
  const leaving: Leaving = { hasBegun: false, lingers: false, redirect };
  const traffic: Traffic = {
    connections: trackConnections(server),
    inFlight: trackResponses(server, leaving),
  };
  continueOnceRead(server);
  if (upgrades) (await import('./upgrade.ts')).serveUpgrades(server, exchange?.ServerResponse);
  server.on('request', (request, response) => limitBodyTime(request, response, limits.requestTimeoutMs));
  server.on('request', leaving.redirect.handler);
  const plainUrl = await listen(server, { ...listener, setting });
  const url = tls === undefined ? plainUrl : plainUrl.replace(/^http:/, 'https:');
  let drained: Promise<void> | undefined;
  return {
    url,
    leave: () => leave(leaving, traffic),
    [Symbol.asyncDispose]: () => {
      drained ??= drain(server, traffic, { ...options, lingerMs: lingerMs(), leaving });
      return drained;
    },
  };
};

/** A handshake is part of the time before a request. */
const shaking = ({ headersTimeoutMs }: HttpLimits) => ({ handshakeTimeout: headersTimeoutMs });

/**
 * Answers `Expect: 100-continue` (RFC 9110, section 10.1.1) once something reads the body, and not before: a
 * request refused by its headers never sends it. Node closes a connection whose body was not requested.
 */
const continueOnceRead = (server: Server): void => {
  // Any other expectation may be ignored; Node would refuse it silently.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response),
  );
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const listen = (event: string | symbol): void => {
      if (event !== 'data' && event !== 'readable') return;
      request.off('newListener', listen);
      if (!response.headersSent) response.writeContinue();
    };
    request.on('newListener', listen);
    server.emit('request', request, response);
  });
};

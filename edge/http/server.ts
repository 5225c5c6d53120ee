// Over 200 lines, because it is one thing: the life of a server, from listening to the last response.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createSecureContext, type SecureContextOptions, type TlsOptions } from 'node:tls';
import type { Registry } from 'prom-client';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import { limitBodyTime } from './body-time.ts';
import { answerBrokenRequest } from './broken-request.ts';
import { createDrainRedirect, type DrainRedirect } from './drain-redirect.ts';
import { limitConnections } from './limit-connections.ts';
import { type Listener, listen } from './listen.ts';
import { createServer } from './node-http.ts';
import { demandOneHost } from './one-host.ts';

export type TlsFiles = {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string | undefined;
};

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
  } = options;
  const timing = {
    ...exchange,
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

/** Whether responses end their connections, and whether idle connections are left to their peers. */
type Leaving = { hasBegun: boolean; lingers: boolean; readonly redirect: DrainRedirect };

const leave = (leaving: Leaving, { inFlight }: Traffic): void => {
  leaving.hasBegun = true;
  leaving.redirect.begin();
  for (const response of inFlight) response.shouldKeepAlive = false;
};

type Traffic = {
  readonly connections: ReadonlyMap<string, Socket>;
  readonly inFlight: ReadonlySet<ServerResponse>;
};

/**
 * Keyed by peer: with TLS, a response has another socket than the one that the connection began with, and
 * both have the same peer.
 */
const trackConnections = (server: Server): ReadonlyMap<string, Socket> => {
  const connections = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    connections.set(peer, socket);
    socket.on('close', () => {
      if (connections.get(peer) === socket) connections.delete(peer);
    });
  });
  return connections;
};

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

const trackResponses = (server: Server, leaving: Readonly<Leaving>): ReadonlySet<ServerResponse> => {
  const inFlight = new Set<ServerResponse>();
  let isClosingIdle = false;
  // Scans all connections, so once for all responses that end together: there may be ten thousand of them.
  const closeIdleSoon = (): void => {
    if (isClosingIdle) return;
    isClosingIdle = true;
    setImmediate(() => {
      isClosingIdle = false;
      server.closeIdleConnections();
    });
  };
  server.on('request', (_request, response) => {
    inFlight.add(response);
    response.on('close', () => {
      inFlight.delete(response);
      // While draining, a connection is of no more use after its response.
      if (!server.listening && !leaving.lingers) closeIdleSoon();
    });
    if (leaving.hasBegun || !server.listening) response.shouldKeepAlive = false;
  });
  return inFlight;
};

type Draining = Pick<HttpServerOptions, 'drainMs' | 'log' | 'whenIdleAreClosed'> & {
  readonly lingerMs: number;
  readonly leaving: Leaving;
};

const drain = async (server: Server, traffic: Traffic, draining: Draining): Promise<void> => {
  const { drainMs, lingerMs, leaving, log, whenIdleAreClosed } = draining;
  const closed = once(server, 'close');
  const finished = new AbortController();
  const after = (ms: number) =>
    delay(ms, 'late' as const, { signal: finished.signal }).catch(() => 'aborted' as const);
  const deadline = after(drainMs);
  leave(leaving, traffic);
  if (lingerMs > 0) {
    leaving.lingers = true;
    await Promise.race([leaving.redirect.untilNobodyComes(), deadline]);
    // Accepts no new connections, and keeps the open ones, unlike closing an HTTP server.
    NetServer.prototype.close.call(server);
    await Promise.race([closed, after(lingerMs), deadline]);
    leaving.lingers = false;
    server.closeIdleConnections();
  } else {
    server.close();
  }
  const busy = new Set([...traffic.inFlight].map(({ req }) => peerOf(req.socket)));
  // Closing the server ends connections between two requests, but none that has not sent one yet, as browsers
  // open them ahead.
  for (const [peer, socket] of traffic.connections) if (!busy.has(peer)) socket.destroy();
  whenIdleAreClosed?.();
  if ((await Promise.race([closed, deadline])) === 'late') {
    log.warn({ inFlight: traffic.inFlight.size }, 'Requests that took too long were cut off.');
    // Node closes only connections with a parser; event streams have none (`query/sse/free-parser.ts`).
    server.closeAllConnections();
    for (const socket of traffic.connections.values()) socket.destroy();
    await closed;
  }
  finished.abort();
};

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

/**
 * The TLS options of the server. With authorities for clients it asks each client for a certificate, and
 * accepts any or none: routes that need one check it (RFC 8705).
 */
const readTls = async ({ certFile, keyFile, clientCaFile }: TlsFiles): Promise<TlsOptions> => {
  const options: SecureContextOptions = {
    cert: await read('TLS_CERT', certFile),
    key: await read('TLS_KEY', keyFile),
    ...(clientCaFile !== undefined && { ca: await read('TLS_CLIENT_CA', clientCaFile) }),
    minVersion: 'TLSv1.2',
  };
  try {
    createSecureContext(options);
  } catch (cause) {
    throw new StartRefused(
      `TLS_CERT and TLS_KEY do not match, or are not PEM files: ${(cause as Error).message}.`,
      { cause },
    );
  }
  return { ...options, ...(clientCaFile !== undefined && { requestCert: true, rejectUnauthorized: false }) };
};

const read = async (setting: string, file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new StartRefused(
      `${setting} is ${file}, which cannot be read: give the path of a PEM file that this user may read.`,
      { cause },
    );
  }
};

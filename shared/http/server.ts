import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { HttpLimits, Listener, TlsFiles } from '#shared/config.ts';
import type { Log } from '#shared/log.ts';
import { limitBodyTime } from './body-time.ts';
import { answerBrokenRequest } from './broken-request.ts';
import { continueOnceRead } from './expect-continue.ts';
import { listen } from './listen.ts';
import { readTls } from './tls.ts';

export type HttpServerOptions = {
  readonly handler: RequestListener;
  readonly listener: Listener;
  /** The setting that the port comes from, for the message when it is taken. */
  readonly setting: 'PORT' | 'INTERNAL_PORT';
  /** Undefined means plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  readonly limits: HttpLimits;
  /** How long requests in flight may go on after disposal has begun. */
  readonly drainMs: number;
  readonly log: Log;
};

export type HttpServer = AsyncDisposable & {
  readonly url: string;
  /** From now on every answer ends its connection, so that nobody keeps one ready for later; requests are still taken. */
  leave(): void;
};

/** Longer than the usual idle timeout of a proxy in front (60 s), so that it is never this side that hangs up on a request. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const TIMEOUT_CHECKS_MAX_MS = 5_000;
/** The longest that any route may take to read a body. */
const REQUEST_TIMEOUT_MAX_MS = 900_000;

/** Serves HTTP within limits. Disposal takes no new connections, lets requests in flight finish, and ends what lasts too long. */
export const startHttpServer = async (options: HttpServerOptions): Promise<HttpServer> => {
  const { handler, listener, setting, tls, limits, drainMs, log } = options;
  const timing = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs),
    // Bodies are timed by request, because some routes let them take longer.
    requestTimeout: Math.max(limits.requestTimeoutMs, REQUEST_TIMEOUT_MAX_MS),
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, TIMEOUT_CHECKS_MAX_MS),
  };
  const server: Server = tls === undefined ? createServer(timing) : createTlsServer({ ...timing, ...(await readTls(tls)) });
  server.maxConnections = limits.connectionsMax;
  server.on('drop', () => log.warn({ connectionsMax: limits.connectionsMax }, 'A connection was refused: CONNECTIONS_MAX is reached.'));
  server.on('clientError', answerBrokenRequest);
  const leaving = { hasBegun: false };
  const traffic: Traffic = { connections: trackConnections(server), inFlight: trackResponses(server, leaving) };
  continueOnceRead(server);
  server.on('request', (request, response) => limitBodyTime(request, response, limits.requestTimeoutMs));
  server.on('request', handler);
  const plainUrl = await listen(server, { ...listener, setting });
  const url = tls === undefined ? plainUrl : plainUrl.replace(/^http:/, 'https:');
  let drained: Promise<void> | undefined;
  return {
    url,
    leave() {
      leaving.hasBegun = true;
      for (const response of traffic.inFlight) response.shouldKeepAlive = false;
    },
    [Symbol.asyncDispose]: () => {
      drained ??= drain(server, traffic, { drainMs, log });
      return drained;
    },
  };
};

type Traffic = { readonly connections: ReadonlyMap<string, Socket>; readonly inFlight: ReadonlySet<ServerResponse> };

/** By their peers: with TLS, a response knows another socket than the one that the connection began with, and both have the same peer. */
const trackConnections = (server: Server): ReadonlyMap<string, Socket> => {
  const connections = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    connections.set(peer, socket);
    socket.once('close', () => {
      if (connections.get(peer) === socket) connections.delete(peer);
    });
  });
  return connections;
};

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

const trackResponses = (server: Server, leaving: { readonly hasBegun: boolean }): ReadonlySet<ServerResponse> => {
  const inFlight = new Set<ServerResponse>();
  let isClosingIdle = false;
  // Looks at all connections, so once for all responses that end together: there may be ten thousand of them.
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
    response.once('close', () => {
      inFlight.delete(response);
      // While draining, a connection that has had its answer is of no more use.
      if (!server.listening) closeIdleSoon();
    });
    if (leaving.hasBegun || !server.listening) response.shouldKeepAlive = false;
  });
  return inFlight;
};

const drain = async (
  server: Server,
  { connections, inFlight }: Traffic,
  { drainMs, log }: { drainMs: number; log: Log },
): Promise<void> => {
  const closed = once(server, 'close');
  server.close();
  const busy = new Set([...inFlight].map(({ req }) => peerOf(req.socket)));
  // Closing the server ends connections between two requests, but none that has not sent one yet, as browsers open them ahead.
  for (const [peer, socket] of connections) if (!busy.has(peer)) socket.destroy();
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

import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '#shared/log.ts';
import type { DrainRedirect } from './drain-redirect.ts';

/** Whether responses end their connections, and whether idle connections are left to their peers. */
export type Leaving = { hasBegun: boolean; lingers: boolean; readonly redirect: DrainRedirect };

export const leave = (leaving: Leaving, { inFlight }: Traffic): void => {
  leaving.hasBegun = true;
  leaving.redirect.begin();
  for (const response of inFlight) response.shouldKeepAlive = false;
};

export type Traffic = {
  readonly connections: ReadonlyMap<string, Socket>;
  readonly inFlight: ReadonlySet<ServerResponse>;
};

/**
 * Keyed by peer: with TLS, a response has another socket than the one that the connection began with, and
 * both have the same peer.
 */
export const trackConnections = (server: Server): ReadonlyMap<string, Socket> => {
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

export const trackResponses = (server: Server, leaving: Readonly<Leaving>): ReadonlySet<ServerResponse> => {
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

type Draining = {
  readonly drainMs: number;
  readonly lingerMs: number;
  readonly leaving: Leaving;
  readonly log: Log;
  readonly whenIdleAreClosed?: () => void;
};

export const drain = async (server: Server, traffic: Traffic, draining: Draining): Promise<void> => {
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

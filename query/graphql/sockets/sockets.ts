import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Request, type RequestHandler, Router } from 'express';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocketServer } from 'ws';
import { type CorsOrigins, isAllowedOrigin } from '#edge/http/cors.ts';
import type { Health } from '#edge/http/health.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import { countNoLonger } from '#edge/http/shed-load.ts';
import { acceptUpgrade, asksForUpgrade, type Upgrades } from '#edge/http/upgrade.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { releaseRequest } from '../../sse/release.ts';
import { innerRequests } from './inner-request.ts';
import { STOPPING } from './messages.ts';
import type { Begin } from './operations.ts';
import { Session, type SessionOptions } from './session.ts';
import { GraphqlSocket } from './socket.ts';

export type SocketOptions = Omit<SessionOptions, 'begin'> & {
  readonly health: Pick<Health, 'onDrain'>;
  readonly publicUrl: string;
  readonly corsOrigins: CorsOrigins;
  readonly bufferBytesMax: number;
  /** The size of the largest message. */
  readonly messageBytesMax: number;
};

export type Sockets = {
  readonly routes: RequestHandler;
  readonly upgrades: Upgrades;
};

const PATH = /^\/graphql\/?$/i;

/**
 * GraphQL over WebSocket, with the operations of `/graphql`: the same executor and subscriptions, rights and
 * limits, because each message becomes a request within the process.
 */
export const openSockets = (options: SocketOptions, begin: Begin): Sockets => {
  const { health, bufferBytesMax, messageBytesMax: maxPayload } = options;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload,
    // Would keep memory for each connection, and messages of other users beside secrets are not to be compressed.
    perMessageDeflate: false,
    // Would keep a pong for each ping of a client that does not read.
    autoPong: false,
    handleProtocols: () => GRAPHQL_TRANSPORT_WS_PROTOCOL,
  });
  server.on('headers', (headers, request) => void headers.push(`X-Request-Id: ${requestIdOf(request)}`));
  const open = new Set<GraphqlSocket>();
  let isDraining = false;
  health.onDrain(() => {
    isDraining = true;
    for (const socket of open) socket.close(STOPPING);
  });
  const accept: RequestHandler = (request, response, next) => {
    if (!asksForUpgrade(request)) return next();
    demandOrigin(request, options);
    demandHandshake(request);
    demandProtocol(request);
    if (isDraining) throw new HttpProblem('unavailable', { headers: { 'Retry-After': '1' } });
    const { socket: connection, head } = acceptUpgrade(request, response);
    server.handleUpgrade(request, connection, head, (webSocket) => {
      // The limits of streams hold from now on.
      countNoLonger(request);
      const onClose = (): void => {
        open.delete(socket);
        session.end();
      };
      const socket = new GraphqlSocket(webSocket, { socket: connection as Socket, bufferBytesMax, onClose });
      open.add(socket);
      const session = new Session(request, socket, { ...options, begin });
      webSocket.on('message', (data, isBinary) => session.take(data, isBinary));
      releaseRequest(request);
    });
  };
  return { routes: Router().all('/graphql', innerRequests, accept), upgrades };
};

const upgrades: Upgrades = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && PATH.test(url.split('?', 1)[0] ?? '');

/**
 * A browser sends the origin of the page, and asks nobody first. A socket has no cookies, so the rule is that of
 * all other requests.
 */
const demandOrigin = (
  { headers: { origin } }: Request,
  { publicUrl, corsOrigins }: Pick<SocketOptions, 'publicUrl' | 'corsOrigins'>,
): void => {
  if (origin === undefined || origin === new URL(publicUrl).origin) return;
  if (!isAllowedOrigin(corsOrigins, origin)) throw new Rejection('forbidden');
};

/**
 * RFC 6455, section 4.2.1. Checked here, because ws would answer by itself once the connection is its own: that
 * refusal would be logged as an accepted connection.
 */
const demandHandshake = ({ headers }: Request): void => {
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    throw new HttpProblem('malformed_request', { detail: 'Sec-WebSocket-Key must be 16 bytes in base64.' });
  if (!VERSIONS.includes(headers['sec-websocket-version'] ?? ''))
    throw new HttpProblem('malformed_request', {
      detail: 'Sec-WebSocket-Version must be 13.',
      headers: { 'Sec-WebSocket-Version': VERSIONS.join(', ') },
    });
};

const KEY = /^[A-Za-z0-9+/]{22}==$/;
const VERSIONS: readonly string[] = ['13', '8'];

const demandProtocol = ({ headers }: Request): void => {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim());
  if (!offered.includes(GRAPHQL_TRANSPORT_WS_PROTOCOL))
    throw new HttpProblem('malformed_request', {
      detail: `Offer the subprotocol ${GRAPHQL_TRANSPORT_WS_PROTOCOL}, which is the only one.`,
    });
  if (new Set(offered).size < offered.length || !offered.every((each) => TOKEN.test(each)))
    throw new HttpProblem('malformed_request', {
      detail: 'Sec-WebSocket-Protocol must be different names of subprotocols, separated by commas.',
    });
};

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Request, Response } from 'express';
import { ServerResponse as PlainResponse } from './node-http.ts';
import { requestFact } from './request-fact.ts';

/** Whether a request may leave HTTP for another protocol on its connection. */
export type Upgrades = (request: IncomingMessage) => boolean;

/** The connection of a request for another protocol (RFC 9110, section 7.8). */
type Upgrade = { readonly socket: Duplex; readonly head: Buffer };

const upgrades = requestFact<Upgrade>('upgrade');

/** Whether a request asks to leave HTTP, and was let through. */
export const asksForUpgrade = (request: IncomingMessage): boolean => upgrades.of(request) !== undefined;

/**
 * Serves requests for another protocol as all others: with the same identity, log, limits and refusals. The
 * handler that accepts one takes its connection.
 */
export const serveUpgrades = (server: Server, Answer: typeof ServerResponse = PlainResponse): void => {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const response = new Answer(request);
    socket.on('error', () => socket.destroy());
    upgrades.set(request, { socket, head });
    response.shouldKeepAlive = false;
    response.assignSocket(request.socket);
    response.once('finish', () => request.socket.destroySoon());
    server.emit('request', request, response);
  });
};

/** Ends the response: from here on, the connection speaks another protocol until it closes. */
export const acceptUpgrade = (request: Request, response: Response): Upgrade => {
  const upgrade = upgrades.of(request);
  if (upgrade === undefined) throw new Error('the request asks for no other protocol');
  response.detachSocket(request.socket);
  response.statusCode = SWITCHING_PROTOCOLS;
  upgrade.socket.once('close', () => closeResponse(response));
  return upgrade;
};

const SWITCHING_PROTOCOLS = 101;

/** Observers of responses learn of the end of one that Node does not send. */
export const closeResponse = (response: ServerResponse): void => {
  if (response.destroyed) return;
  for (const fact of ['destroyed', 'writableFinished', 'headersSent'])
    Object.defineProperty(response, fact, { value: true });
  response.emit('close');
};

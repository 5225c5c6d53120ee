import type { IncomingMessage as Incoming, IncomingHttpHeaders } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { IncomingMessage, ServerResponse } from '#edge/http/node-http.ts';
import { requestFact } from '#edge/http/request-fact.ts';
import { closeResponse } from '#edge/http/upgrade.ts';

/** The answer of a request within the process, if it was refused on its way. */
export type Refusal = {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
};

const destinations = requestFact<RequestHandler>('destination');

/** Serves the requests of sockets; all others go to the next handler. */
export const innerRequests: RequestHandler = (request, response, next) => {
  const destination = destinations.of(request);
  return destination === undefined ? next() : destination(request, response, next);
};

type Options = {
  readonly method: 'GET' | 'POST';
  readonly headers: IncomingHttpHeaders;
  /** Runs before the first handler. */
  readonly prepare?: (inner: Incoming) => void;
  readonly onRefused: (refusal: Refusal) => void;
  readonly destination: RequestHandler;
};

/** A request that ends when its caller says so. */
export type InnerRequest = { close(): void };

/**
 * Sends a request for a message of a socket through all handlers of the process, as one over HTTP: it is logged,
 * identified, charged to the same rate limit, and refused under load. So no interface has rules of its own.
 */
export const sendWithin = (
  outer: Request,
  { method, headers, prepare, onRefused, destination }: Options,
): InnerRequest => {
  const inner = new IncomingMessage(outer.socket);
  inner.method = method;
  inner.url = PATH;
  inner.headers = headers;
  inner.headersDistinct = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat()]),
  );
  Object.assign(inner, { complete: true, httpVersion: '1.1' });
  const response = new ServerResponse(inner);
  const close = (): void => closeResponse(response);
  response.end = ((text?: unknown) => {
    const retryAfter = response.getHeader('Retry-After');
    onRefused({
      status: response.statusCode,
      text: text === undefined ? '' : String(text),
      retryAfter: retryAfter === undefined ? undefined : String(retryAfter),
    });
    close();
    return response;
  }) as Response['end'];
  destinations.set(inner, destination);
  prepare?.(inner);
  outer.app(inner as Request, response as Response);
  return { close };
};

const PATH = '/graphql';

/** About the connection, the body or the secret of the request that became a socket. */
const LEFT_OUT =
  /^(?:accept.*|authorization|connection|content-.*|cookie|dpop|if-.*|prefer|upgrade|sec-websocket-.*|te|trailer|transfer-encoding|x-request-id|traceparent|tracestate|idempotency-key|consistency-token|last-event-id|x-may-move)$/;

/** The headers of the connection that hold for every message: the client’s address, certificate and origin. */
export const lastingHeaders = ({ headers }: Request): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !LEFT_OUT.test(name)));

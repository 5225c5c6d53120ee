import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { HttpProblem, type HttpProblemCode } from '#kernel/base/rest/http-problem.ts';
import { STATUS_CODES } from './node-http.ts';
import { problemOf } from './problem.ts';

/** The errors of Node’s parser before there is a request to answer. */
const FAULTS: Readonly<Record<string, HttpProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};
const MALFORMED = new HttpProblem('malformed_request', { detail: 'This is not a well-formed HTTP request.' });

/**
 * The time a client may take to read the response; destroying the connection immediately could discard it.
 */
const LINGER_MS = 1_000;

/** Answers a request that cannot be parsed, with the same body as every other refusal (RFC 9457). */
export const answerBrokenRequest = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const code = FAULTS[error.code ?? ''];
  answerOnSocket(code === undefined ? MALFORMED : new HttpProblem(code), socket);
};

/** For requests without a response object, or if it is too late to wait for the rest of the request. */
export const answerOnSocket = (problem: HttpProblem, socket: Duplex): void => {
  const requestId = randomUUID();
  const { status, body, headers } = problemOf(problem);
  const text = JSON.stringify({ ...body, requestId });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
  // Otherwise a client that never closes its side keeps the connection, and the route that waits for the rest
  // of its body.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
};

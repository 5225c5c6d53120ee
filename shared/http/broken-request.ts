import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** What Node's parser finds wrong before there is a request to answer, as a status and a sentence. */
const FAULTS: Readonly<Record<string, readonly [status: number, code: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'The request line and headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'The request took too long to arrive.'],
};
const MALFORMED = [400, 'malformed_request', 'This is not a well-formed HTTP request.'] as const;

/** How long a client may take to read the answer; destroying the connection at once could take it away from under its eyes. */
const LINGER_MS = 1_000;

/** Answers a request that cannot even be read, with the same kind of body as every other refusal (RFC 9457). */
export const answerBrokenRequest = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, code, detail] = FAULTS[error.code ?? ''] ?? MALFORMED;
  const body = JSON.stringify({ type: `urn:annals:problem:${code}`, title: STATUS_CODES[status], status, code, detail });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // Else a client that never closes its side keeps the connection, and the route that waits for the rest of its body.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
};

import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { problemOf } from './problem.ts';

const NAME = 'host';
const SEVERAL = new HttpProblem('malformed_request', {
  detail: 'The request has several Host headers. Send one.',
});

/**
 * Refuses several `Host` headers (RFC 9112, section 3.2): Node takes the first, and a proxy in front may take another.
 */
export const demandOneHost =
  (handler: RequestListener): RequestListener =>
  (request, response) => {
    if (countOf(request.rawHeaders) < 2) return handler(request, response);
    const requestId = randomUUID();
    const { status, body } = problemOf(SEVERAL);
    response.writeHead(status, {
      'Content-Type': 'application/problem+json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
      Connection: 'close',
    });
    response.end(JSON.stringify({ ...body, requestId }));
  };

const countOf = (rawHeaders: readonly string[]): number => {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === NAME.length && name.toLowerCase() === NAME) count += 1;
  }
  return count;
};

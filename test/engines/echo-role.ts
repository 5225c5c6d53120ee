import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that answers every request with a description of it. */
type EchoRole = AsyncDisposable & { readonly address: string; readonly requests: () => number };

export type Echo = {
  readonly role: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: number;
};

/** `answer` replaces the echo if it returns true. */
export const startEchoRole = async (
  role: string,
  answer?: (...args: Parameters<RequestListener>) => boolean,
): Promise<EchoRole> => {
  let requests = 0;
  const server = createServer(async (request, response) => {
    requests += 1;
    if (answer?.(request, response)) return;
    let bytes = 0;
    for await (const chunk of request) bytes += (chunk as Buffer).length;
    const { method = '', url = '', headers } = request;
    const echo: Echo = { role, method, url, headers, bytes };
    response
      .writeHead(200, { 'content-type': 'application/json', etag: '"1-strong"', 'x-served-by': role })
      .end(JSON.stringify(echo));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { listen } from '#edge/http/listen.ts';

/** A server for a test, on a free port. Its disposal closes all connections. */
type LocalServer = AsyncDisposable & { readonly url: string };

export const startLocalServer = async (handler: RequestListener): Promise<LocalServer> => {
  const server = createServer(handler);
  const url = await listen(server, { port: 0, host: '127.0.0.1', setting: 'PORT' });
  return {
    url,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};

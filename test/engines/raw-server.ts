import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A server with raw answers, which can be wrong, late, or missing. */
type RawServer = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  /** Unchanged. */
  readonly requests: readonly string[];
  /** The number of connections so far. */
  connections(): number;
  open(): number;
};

type Options = { readonly tls?: TlsOptions; readonly host?: string };

export const openRawServer = async (
  answer: (socket: Socket, request: string) => unknown,
  { tls, host = '127.0.0.1' }: Options = {},
): Promise<RawServer> => {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const serve = (socket: Socket): void => {
    connections += 1;
    sockets.add(socket);
    let received = '';
    socket
      .setEncoding('latin1')
      .on('error', () => {})
      .on('close', () => sockets.delete(socket))
      .on('data', (text: string) => {
        received += text;
        if (!isWhole(received)) return;
        requests.push(received);
        const request = received;
        received = '';
        void answer(socket, request);
      });
  };
  const server: Server = tls ? createTlsServer(tls, serve) : createServer(serve);
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://${host}:${port}`,
    port,
    requests,
    connections: () => connections,
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

const isWhole = (request: string): boolean => {
  const end = request.indexOf('\r\n\r\n');
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(request)?.[1] ?? 0);
  return end !== -1 && request.length >= end + 4 + length;
};

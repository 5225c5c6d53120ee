import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A path to a server that has too much to do: it accepts one connection after the other. */
type SlowEntrance = AsyncDisposable & {
  readonly port: number;
  /** Breaks all connections. From now on each one waits for all before it, given up or not. */
  starve(acceptMs: number): void;
  /** The number of connections so far. */
  attempts(): number;
};

export const openSlowEntrance = async (origin: string): Promise<SlowEntrance> => {
  const { hostname, port: originPort } = new URL(origin);
  const sockets = new Set<Socket>();
  let queue = Promise.resolve();
  let acceptMs = 0;
  let attempts = 0;
  const keep = (socket: Socket, onClose: () => void): void => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket);
        onClose();
      });
  };
  const server = createServer((client) => {
    attempts += 1;
    keep(client, () => {});
    client.pause();
    queue = queue.then(async () => {
      if (acceptMs > 0) await delay(acceptMs);
      if (client.destroyed) return;
      const upstream = connect(Number(originPort), hostname);
      keep(upstream, () => client.destroy());
      client
        .on('close', () => upstream.destroy())
        .pipe(upstream)
        .pipe(client);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    starve(ms) {
      acceptMs = ms;
      for (const socket of sockets) socket.destroy();
    },
    attempts: () => attempts,
    async [Symbol.asyncDispose]() {
      acceptMs = 0;
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A path to a server on which answers can be withheld. */
type Relay = AsyncDisposable & {
  readonly url: string;
  /** From now on requests pass, but no answer does until it is released. */
  withhold(): { release(): void };
  /** The requests since then. */
  asked(): string;
};

export const startRelay = async (url: string): Promise<Relay> => {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const answering = new Set<Socket>();
  let said = '';
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}));
    answering.add(upstream);
    client.on('data', (chunk) => {
      said += chunk.toString('latin1');
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => client.write(chunk));
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: through.href,
    withhold() {
      said = '';
      for (const upstream of answering) upstream.pause();
      return { release: () => answering.forEach((upstream) => void upstream.resume()) };
    },
    asked: () => said,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

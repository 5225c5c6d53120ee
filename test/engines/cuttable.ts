import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server that can be cut, as a network is. */
export type Cuttable = AsyncDisposable & {
  readonly url: string;
  /** Breaks all connections, and takes no others until it is mended. */
  cut(): void;
  /** The same, but in the next message of a stream of events that has this text: all of it passes, but for its empty line. */
  cutWithin(text: string): void;
  isCut(): boolean;
  mend(): void;
};

export const openCuttable = async (origin: string): Promise<Cuttable> => {
  const { hostname, port } = new URL(origin);
  const sockets = new Set<Socket>();
  let isCut = false;
  let within: string | undefined;
  const cut = (): void => {
    isCut = true;
    within = undefined;
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const forward = (client: Socket, chunk: Buffer): void => {
    const end = within === undefined ? undefined : endOfMessage(chunk, within);
    if (end === undefined) return void client.write(chunk);
    // A reset might take with it what is still on its way.
    sockets.delete(client);
    client.end(chunk.subarray(0, end));
    cut();
  };
  const server = createServer((client) => {
    if (isCut) return void client.resetAndDestroy();
    const upstream = connect(Number(port), hostname);
    keep(client, () => upstream.destroy());
    keep(upstream, () => client.destroySoon());
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => forward(client, chunk));
  });
  const keep = (socket: Socket, onClose: () => void): void => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket);
        onClose();
      });
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    cutWithin: (text) => {
      within = text;
    },
    isCut: () => isCut,
    mend: () => {
      isCut = false;
      within = undefined;
    },
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
};

/** Where the empty line begins after the text. */
const endOfMessage = (chunk: Buffer, text: string): number | undefined => {
  const from = chunk.indexOf(text);
  const end = from === -1 ? -1 : chunk.indexOf('\n\n', from);
  return end === -1 ? undefined : end + 1;
};

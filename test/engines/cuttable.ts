import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network path to a server that can be cut. */
export type Cuttable = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  /** Breaks all connections, and refuses others until it is mended. */
  cut(): void;
  /**
   * The same, but in the next message of an event stream with this text: everything passes except its empty
   * line.
   */
  cutWithin(text: string): void;
  isCut(): boolean;
  /**
   * Keeps all connections and accepts others, but lets nothing pass until it is mended; then the held-back
   * data continues.
   */
  stall(): void;
  /** Like `stall`, but existing connections never continue, as if the machine behind them were gone. */
  strand(): void;
  /** The same for one connection, by the port that it comes from; all others continue. */
  strandFrom(port: number): void;
  /** The number of connections so far, of refused ones as well. */
  attempts(): number;
  mend(): void;
};

/** A function of an origin is called at each connection, if the origin is not known yet. */
export const openCuttable = async (origin: string | (() => string)): Promise<Cuttable> => {
  const sockets = new Set<Socket>();
  const stranded = new WeakSet<Socket>();
  const flow = createFlow((socket) => !stranded.has(socket));
  const pairs = new Map<number, readonly Socket[]>();
  let attempts = 0;
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
    // A reset might drop data in flight.
    sockets.delete(client);
    client.end(chunk.subarray(0, end));
    cut();
  };
  const server = createServer((client) => {
    attempts += 1;
    if (isCut) return void client.resetAndDestroy();
    const { hostname, port } = new URL(typeof origin === 'string' ? origin : origin());
    const upstream = connect(Number(port), hostname);
    keep(client, () => upstream.destroySoon());
    keep(upstream, () => client.destroySoon());
    pairs.set(client.remotePort ?? 0, [client, upstream]);
    flow.lead(client, (chunk) => upstream.write(chunk));
    flow.lead(upstream, (chunk) => forward(client, chunk));
  });
  const keep = (socket: Socket, onClose: () => void): void => {
    sockets.add(socket);
    socket
      .setNoDelay(true)
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket);
        if (!stranded.has(socket)) onClose();
      });
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    cut,
    cutWithin: (text) => {
      within = text;
    },
    isCut: () => isCut,
    stall: flow.stop,
    strand() {
      flow.stop();
      for (const socket of sockets) stranded.add(socket);
    },
    strandFrom(port) {
      for (const socket of pairs.get(port) ?? []) stranded.add(socket.pause());
    },
    attempts: () => attempts,
    mend: () => {
      isCut = false;
      within = undefined;
      flow.goOn();
    },
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
};

/** Data read from sockets, while it flows. */
const createFlow = (mayGoOn: (socket: Socket) => boolean) => {
  const reading = new Set<Socket>();
  let isStopped = false;
  return {
    lead(from: Socket, take: (chunk: Buffer) => void): void {
      reading.add(from);
      from.on('close', () => reading.delete(from)).on('data', take);
      if (isStopped) from.pause();
    },
    stop(): void {
      isStopped = true;
      for (const socket of reading) socket.pause();
    },
    goOn(): void {
      isStopped = false;
      for (const socket of reading) if (mayGoOn(socket)) socket.resume();
    },
  };
};

/** The start of the empty line after the text. */
const endOfMessage = (chunk: Buffer, text: string): number | undefined => {
  const from = chunk.indexOf(text);
  const end = from === -1 ? -1 : chunk.indexOf('\n\n', from);
  return end === -1 ? undefined : end + 1;
};

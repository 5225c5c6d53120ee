import { once } from 'node:events';
import { type AddressInfo, createServer, type Server as Listener, type Socket } from 'node:net';

/** Owns the sockets itself, so that connections can be cut as by a killed process. */
export const entranceTo = (accept: (socket: Socket) => void) => {
  const sockets = new Set<Socket>();
  let listener: Listener | undefined;
  const drop = (): number => {
    const dropped = sockets.size;
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
    return dropped;
  };
  const admit = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
    // A client may reset the connection: nothing to do about it here.
    socket.on('error', () => {});
    accept(socket);
  };
  return {
    drop,
    isOpen: () => listener !== undefined,
    async open(port: number): Promise<number> {
      listener = createServer(admit).listen(port, '127.0.0.1');
      await once(listener, 'listening');
      return addressOf(listener).port;
    },
    async close(): Promise<void> {
      const closing = listener;
      if (!closing) return;
      listener = undefined;
      const closed = once(closing, 'close');
      closing.close();
      drop();
      await closed;
    },
  };
};

const addressOf = (listener: Listener): AddressInfo => {
  const address = listener.address();
  if (address === null || typeof address === 'string')
    throw new Error(`The stand-in listens on no TCP port but on ${address}.`);
  return address;
};

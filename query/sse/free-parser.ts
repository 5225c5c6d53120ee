import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The internals of Node 20 to 24. */
type Parser = { unconsume(): void; remove(): void; close(): void };
type Listener = Parameters<Socket['removeListener']>[1];

/**
 * Frees the HTTP parser of a connection that is now an event stream. Node keeps it until the connection
 * closes: 10 of the 20 KiB of an idle stream. A stream ends with its connection, so there is nothing left to
 * parse. The parser is detached as Node does it for an upgraded connection, and further bytes of the client
 * are dropped. If Node's internals differ, nothing is changed.
 */
export const freeParser = (request: IncomingMessage): void => {
  // Not now: the parser may be executing this very call.
  setImmediate(takeOff, request);
};

const takeOff = ({ complete, socket }: IncomingMessage & { readonly socket: { parser?: unknown } }): void => {
  const { parser } = socket;
  const [onData, onEnd] = [
    listenerOf(socket, 'data', 'bound socketOnData'),
    listenerOf(socket, 'end', 'bound socketOnEnd'),
  ];
  if (!complete || socket.destroyed || !isParser(parser) || onData === undefined || onEnd === undefined)
    return;
  // These two would pass data to the freed parser, which another connection may use by then. The other
  // listeners check `socket.parser`.
  socket.removeListener('data', onData).removeListener('end', onEnd);
  for (const [event, name] of CONSUMING)
    socket.removeListener(event, listenerOf(socket, event, name) ?? nothing);
  parser.unconsume();
  parser.remove();
  socket.parser = null;
  parser.close();
  // Only now: while the socket has a parser, Node adds listeners of its own.
  socket.on('end', endToo);
  // Listeners that stay still refer to the parser object.
  for (const key of Object.keys(parser)) Object.assign(parser, { [key]: undefined });
};

/** While these listeners exist, the parser reads directly from the socket handle. */
const CONSUMING = [
  ['pause', 'onSocketPause'],
  ['resume', 'onSocketResume'],
] as const;

const isParser = (parser: unknown): parser is Parser =>
  typeof parser === 'object' &&
  parser !== null &&
  ['unconsume', 'remove', 'close'].every((name) => isFunction(Reflect.get(parser, name)));

const isFunction = (value: unknown): boolean => typeof value === 'function';

const listenerOf = (socket: Socket, event: string, name: string): Listener | undefined =>
  socket.listeners(event).find((listener) => listener.name === name) as Listener | undefined;

const nothing = (): void => {};

/** A client that closes its side gets no more, as with every other response. */
function endToo(this: Socket): void {
  this.end();
}

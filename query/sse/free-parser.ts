import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** As Node has it from 20 to 24. */
type Parser = { unconsume(): void; remove(): void; close(): void };
type Listener = Parameters<Socket['removeListener']>[1];

/**
 * Node keeps the parser of requests for as long as a connection lasts, which is 10 of the 20 KiB that an idle stream would take.
 * After the request that a stream answers there is nothing to parse any more: the answer ends with the connection. So the parser is
 * taken off, as Node does for a connection that is upgraded. What a client sends nevertheless is dropped. Where Node has it
 * otherwise, everything stays.
 */
export const freeParser = (request: IncomingMessage): void => {
  // Not while it runs, and this may be called by what it has just read.
  setImmediate(takeOff, request);
};

const takeOff = ({ complete, socket }: IncomingMessage & { readonly socket: { parser?: unknown } }): void => {
  const { parser } = socket;
  const [onData, onEnd] = [listenerOf(socket, 'data', 'bound socketOnData'), listenerOf(socket, 'end', 'bound socketOnEnd')];
  if (!complete || socket.destroyed || !isParser(parser) || onData === undefined || onEnd === undefined) return;
  // They would hand what comes to the parser, whoever has its memory by then. The others ask the socket whether it has one.
  socket.removeListener('data', onData).removeListener('end', onEnd);
  for (const [event, name] of CONSUMING) socket.removeListener(event, listenerOf(socket, event, name) ?? nothing);
  parser.unconsume();
  parser.remove();
  socket.parser = null;
  parser.close();
  // Not sooner, because with a parser Node listens otherwise.
  socket.on('end', endToo);
  // What is left of it is known to listeners that stay.
  for (const key of Object.keys(parser)) Object.assign(parser, { [key]: undefined });
};

/** Node reads by the parser itself while these are there. */
const CONSUMING = [
  ['pause', 'onSocketPause'],
  ['resume', 'onSocketResume'],
] as const;

const isParser = (parser: unknown): parser is Parser =>
  typeof parser === 'object' && parser !== null && ['unconsume', 'remove', 'close'].every((name) => isFunction(Reflect.get(parser, name)));

const isFunction = (value: unknown): boolean => typeof value === 'function';

const listenerOf = (socket: Socket, event: string, name: string): Listener | undefined =>
  socket.listeners(event).find((listener) => listener.name === name) as Listener | undefined;

const nothing = (): void => {};

/** Who sends no more takes nothing any more either, as for every other request. */
function endToo(this: Socket): void {
  this.end();
}

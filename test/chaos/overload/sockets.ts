import { connect, type Socket } from 'node:net';
import { until } from '../../../testing/until.ts';
import type { Target } from './target.ts';

const HEADS = /HTTP\/1\.1 (\d{3}) /g;

/** A raw client: the test controls what it sends, and whether it reads. */
export type Raw = {
  readonly socket: Socket;
  /** The response so far. */
  text(): string;
  /** Resolves once either side has ended it, and everything is read. */
  readonly closed: Promise<void>;
  /** The statuses of the answers, in order. */
  statuses(): readonly number[];
};

export const openRaw = ({ host, port }: Pick<Target, 'host' | 'port'>): Raw => {
  const socket = connect({ host, port });
  let text = '';
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => {});
  socket.on('close', () => resolve());
  return {
    socket,
    closed,
    text: () => text,
    statuses: () => [...text.matchAll(HEADS)].map(([, status]) => Number(status)),
  };
};

/** Reads a byte now and then, as slowly as possible, until everything may be read. */
export const readSlowly = (many: readonly Raw[], everyMs: number): Disposable => {
  for (const { socket } of many) socket.pause();
  const timer = setInterval(() => {
    for (const { socket } of many) socket.read(1);
  }, everyMs);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      for (const { socket } of many) socket.resume();
    },
  };
};

/** Many clients, which are closed at the end of the scope. */
export type Many = Disposable & { readonly all: readonly Raw[]; add(): Raw };

export const openMany = (target: Pick<Target, 'host' | 'port'>, count: number): Many => {
  const all: Raw[] = [];
  const add = (): Raw => {
    const raw = openRaw(target);
    all.push(raw);
    return raw;
  };
  while (all.length < count) add();
  return {
    all,
    add,
    [Symbol.dispose]() {
      for (const { socket } of all) socket.destroy();
    },
  };
};

/** Waits until all of them are closed. */
export const allClosed = async ({ all }: Pick<Many, 'all'>, withinMs: number): Promise<void> => {
  await until(
    () => all.filter(({ socket }) => !socket.closed).length,
    (open) => open === 0,
    withinMs,
  );
};

/** The lines of a request head, with the empty one at the end. */
export const head = (requestLine: string, ...headers: readonly string[]): string =>
  `${[`${requestLine} HTTP/1.1`, 'Host: annals.example', ...headers].join('\r\n')}\r\n\r\n`;

/** Sends each client one more byte per round, until all is sent or the scope ends. */
export const trickle = (many: readonly Raw[], text: string, everyMs: number): Disposable => {
  let sent = 0;
  const timer = setInterval(() => {
    const byte = text[sent];
    sent += 1;
    if (byte === undefined) return clearInterval(timer);
    for (const { socket } of many) if (socket.writable) socket.write(byte);
  }, everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
};

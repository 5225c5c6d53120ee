import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Sends one request after the other on each connection, for a while. */
export type Load = {
  /** One for all requests, or a function for each. */
  readonly url: string | (() => string);
  readonly connections: number;
  readonly durationMs: number;
  readonly method?: string;
  /** One for all requests, or a function called for each, after its headers. */
  readonly body?: string | (() => string);
  /** Called for every request; undefined ends the run early. */
  headers(): Readonly<Record<string, string>> | undefined;
};

export type Loaded = {
  readonly count: number;
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

export const applyLoad = async (load: Load): Promise<Loaded> => {
  const latenciesMs: number[] = [];
  const startedMs = performance.now();
  const work = async (): Promise<void> => {
    let connection: Connection | undefined;
    try {
      for (
        let head = load.headers();
        head !== undefined && performance.now() - startedMs < load.durationMs;
        head = load.headers()
      ) {
        const [url, body] = [valueNow(load.url), valueNow(load.body ?? '')];
        connection ??= await open(url);
        const sentMs = performance.now();
        await connection.exchange(requestOf(load.method ?? 'GET', url, { head, body }));
        latenciesMs.push(performance.now() - sentMs);
      }
    } finally {
      connection?.close();
    }
  };
  await Promise.all(Array.from({ length: load.connections }, work));
  const elapsedMs = performance.now() - startedMs;
  latenciesMs.sort((a, b) => a - b);
  const quantile = (share: number): number => latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0;
  return {
    count: latenciesMs.length,
    rate: latenciesMs.length / (elapsedMs / 1_000),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  };
};

const valueNow = (value: string | (() => string)): string => (typeof value === 'function' ? value() : value);

const requestOf = (
  method: string,
  url: string,
  { head, body }: { head: Readonly<Record<string, string>>; body: string },
): string => {
  const start = url.indexOf('/', SCHEME.length);
  const [host, path] =
    start < 0 ? [url.slice(SCHEME.length), '/'] : [url.slice(SCHEME.length, start), url.slice(start)];
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (const name in head) text += `${name}: ${head[name]}\r\n`;
  if (body !== '') text += `content-length: ${Buffer.byteLength(body)}\r\n`;
  return `${text}\r\n${body}`;
};

const SCHEME = 'http://';

type Connection = { exchange(request: string): Promise<void>; close(): void };

/**
 * HTTP/1.1 on a plain socket, with only as much of the protocol as the servers use: a full client would take
 * more CPU than they do.
 */
const open = async (url: string): Promise<Connection> => {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  let received = '';
  let waiting: PromiseWithResolvers<void> | undefined;
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received = received === '' ? chunk : received + chunk;
    if (!isWhole(received)) return;
    if (isGood(received)) waiting?.resolve();
    // A refusal is quick and proves nothing.
    else waiting?.reject(new Error(received.slice(0, 1_000)));
    received = '';
  });
  const fail = (error?: Error): void =>
    waiting?.reject(error ?? new Error('the server closed the connection'));
  socket.on('error', fail).on('close', () => fail());
  return {
    exchange(request) {
      waiting = Promise.withResolvers();
      socket.write(request);
      return waiting.promise;
    },
    close: () => void socket.destroy(),
  };
};

const END_OF_HEAD = '\r\n\r\n';
const LAST_CHUNK = '\r\n0\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Answers come one at a time, in single-byte characters. */
const isWhole = (received: string): boolean => {
  const end = received.indexOf(END_OF_HEAD);
  if (end < 0) return false;
  const length = LENGTH.exec(received)?.[1];
  if (length !== undefined) return received.length >= end + END_OF_HEAD.length + Number(length);
  return received.startsWith('204', 'HTTP/1.1 '.length) || received.endsWith(LAST_CHUNK);
};

const isGood = (received: string): boolean => received.startsWith('2', 'HTTP/1.1 '.length);

import { connect, type Socket } from 'node:net';
import { MARK } from './mark.ts';

// A process with as many subscribers as requested, each a socket that only counts messages: each message
// contains the mark once, and nothing else contains it.

export type Instruction =
  /** Opens or closes connections until there is one for each token. */
  | {
      readonly kind: 'connect';
      readonly origin: string;
      readonly head: string;
      readonly body: string;
      readonly second?: { readonly url: string; readonly body: string };
      readonly tokens: readonly string[];
    }
  /** Reports when `messages` more have arrived. */
  | { readonly kind: 'expect'; readonly messages: number }
  /** Reports the counts since the last report or the last change of size. */
  | { readonly kind: 'count' };

export type Report =
  | { readonly kind: 'connected' | 'expecting' }
  /** Times by the machine's clock, which all processes share. */
  | { readonly kind: 'all'; readonly firstMs: number; readonly lastMs: number }
  | {
      readonly kind: 'counts';
      readonly messages: number;
      readonly bytes: number;
      readonly least: number;
      readonly most: number;
    }
  | { readonly kind: 'failed'; readonly reason: string };

const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;

type Subscriber = { readonly socket: Socket; messages: number };

const subscribers: Subscriber[] = [];
const MARK_BYTE = MARK.charCodeAt(0);
const chunk = Buffer.alloc(65_536);
const CONNECTING_MAX = 32;
let [messages, bytes, target, firstMs] = [0, 0, Number.POSITIVE_INFINITY, 0];

const report = (message: Report): void => void process.send?.(message);

const receive = (subscriber: Subscriber, size: number): void => {
  bytes += size;
  const part = chunk.subarray(0, size);
  const before = messages;
  for (let at = part.indexOf(MARK_BYTE); at >= 0; at = part.indexOf(MARK_BYTE, at + 1)) messages += 1;
  if (messages === before) return;
  subscriber.messages += messages - before;
  firstMs ||= machineMs();
  if (messages < target) return;
  target = Number.POSITIVE_INFINITY;
  report({ kind: 'all', firstMs, lastMs: machineMs() });
};

/** Resolves with the first bytes of the answer, or with the answer to the second request. */
const subscribe = (
  { origin, head, body, second }: Extract<Instruction, { kind: 'connect' }>,
  token: string,
): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let isOpen = false;
  let opening = '';
  const follow = (size: number): void => {
    opening += chunk.toString('latin1', 0, size);
    const client = CLIENT.exec(opening)?.[1];
    if (second !== undefined && client === undefined) return;
    isOpen = true;
    if (second === undefined || client === undefined) resolve();
    else subscribeAs(client, second, token).then(resolve, reject);
  };
  const onread = {
    buffer: chunk,
    callback(size: number) {
      if (isOpen) receive(subscriber, size);
      else if (opening === '' && chunk.toString('latin1', 0, OK.length) !== OK)
        reject(new Error(chunk.toString('latin1', 0, size)));
      else follow(size);
      return true;
    },
  };
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread });
  const subscriber = { socket, messages: 0 };
  subscribers.push(subscriber);
  const fail = (error?: Error): void => {
    reject(error);
    if (subscribers.includes(subscriber))
      report({ kind: 'failed', reason: `a stream was closed: ${error?.message ?? 'by the server'}` });
  };
  socket.on('error', fail).on('close', () => fail());
  socket.write(`${head}authorization: Bearer ${token}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  return promise;
};

const OK = 'HTTP/1.1 200';
const CLIENT = /"clientId":"(\w+)"/;

const subscribeAs = async (
  client: string,
  { url, body }: { readonly url: string; readonly body: string },
  token: string,
): Promise<void> => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const response = await fetch(url, { method: 'POST', headers, body: body.replace('CLIENT', client) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
};

const connectAll = async (instruction: Extract<Instruction, { kind: 'connect' }>): Promise<void> => {
  for (const { socket } of subscribers.splice(instruction.tokens.length)) socket.destroy();
  const missing = instruction.tokens.slice(subscribers.length);
  const work = async (): Promise<void> => {
    for (let token = missing.pop(); token !== undefined; token = missing.pop())
      await subscribe(instruction, token);
  };
  await Promise.all(Array.from({ length: CONNECTING_MAX }, work));
  forget();
  report({ kind: 'connected' });
};

const follow = (instruction: Instruction): void => {
  switch (instruction.kind) {
    case 'connect':
      connectAll(instruction).catch((error: Error) => report({ kind: 'failed', reason: error.message }));
      return;
    case 'expect':
      [target, firstMs] = [messages + instruction.messages, 0];
      report({ kind: 'expecting' });
      return;
    case 'count': {
      const each = subscribers.map((subscriber) => subscriber.messages);
      report({ kind: 'counts', messages, bytes, least: Math.min(...each), most: Math.max(...each) });
      forget();
    }
  }
};

const forget = (): void => {
  for (const subscriber of subscribers) subscriber.messages = 0;
  [messages, bytes] = [0, 0];
};

process.on('message', follow);

import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A client with an event stream, or currently without one. */
export type Member = {
  readonly token: string;
  cursor: string;
  readonly received: string[];
  socket: Socket | undefined;
};

/** Very many readers of `/events`, each a socket that reads only as much as a client must. */
export type Crowd = Disposable & {
  readonly members: readonly Member[];
  /**
   * Connects all that are not connected at once, each after its last id, and retries until they are admitted.
   */
  comeTo(url: string): Promise<void>;
};

type Options = { readonly size: number; readonly tokens: readonly string[]; readonly query: string };

/** The maximum of pending connections; more are opened as these are admitted. */
const COMING_MAX = 400;
const ATTEMPTS_MAX = 100;
const RETRY_MS = 100;

export const gatherCrowd = ({ size, tokens, query }: Options): Crowd => {
  const members = Array.from(
    { length: size },
    (_, place): Member => ({
      token: tokens[place % tokens.length] ?? '',
      cursor: '',
      received: [],
      socket: undefined,
    }),
  );
  const come = async (member: Member, url: string): Promise<void> => {
    for (let attempt = 1; !(await enter(member, url, query)); attempt += 1) {
      if (attempt === ATTEMPTS_MAX) throw new Error(`somebody was turned away ${ATTEMPTS_MAX} times`);
      await delay(RETRY_MS);
    }
  };
  return {
    members,
    async comeTo(url) {
      const outside = members.filter(({ socket }) => socket === undefined);
      const work = async (): Promise<void> => {
        for (let member = outside.pop(); member; member = outside.pop()) await come(member, url);
      };
      await Promise.all(Array.from({ length: COMING_MAX }, work));
    },
    [Symbol.dispose]() {
      for (const { socket } of members) socket?.destroy();
    },
  };
};

/** Resolves with whether it was admitted. */
const enter = (member: Member, url: string, query: string): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let text = '';
  let isIn = false;
  socket.setEncoding('utf8');
  socket.on('error', () => {});
  socket.on('close', () => {
    if (member.socket === socket) member.socket = undefined;
    resolve(false);
  });
  socket.on('data', (chunk: string) => {
    text += chunk;
    if (!isIn) {
      const end = text.indexOf('\r\n\r\n');
      if (end === -1) return;
      if (!text.startsWith('HTTP/1.1 200 ')) return void socket.destroy();
      text = text.slice(end + 4);
      isIn = true;
      member.socket = socket;
      resolve(true);
    }
    const messages = text.split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) take(member, message);
  });
  const place = member.cursor === '' ? '' : `Last-Event-ID: ${member.cursor}\r\n`;
  const head = `GET /events?${query} HTTP/1.1\r\nHost: ${hostname}\r\nAccept: text/event-stream\r\n`;
  socket.write(`${head}Authorization: Bearer ${member.token}\r\n${place}\r\n`);
  return promise;
};

const take = (member: Member, message: string): void => {
  const id = /^id: (.*)$/m.exec(message)?.[1];
  if (id !== undefined) member.cursor = id;
  if (/^data: /m.test(message)) member.received.push(member.cursor);
};

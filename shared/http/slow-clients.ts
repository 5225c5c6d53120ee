import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerOnSocket } from './broken-request.ts';
import { HttpProblem } from './http-problem.ts';

export type SlowClientLimits = {
  /** How much of bodies that are still coming, and of answers that are not taken yet, may wait at once. */
  readonly clientBytesMax: number;
  /** No more of one body is kept; what is larger is refused, or handed on as it comes. */
  readonly bodyBytesMax: number;
  /** An answer of which nothing is taken for so long is given up. */
  readonly stalledMaxMs: number;
};

/**
 * The requests that a process is busy with, as far as it is their clients that it waits for: by a body or
 * with an answer.
 */
export type SlowClients = {
  enter(client: Pick<Client, 'request' | 'response' | 'leave'>): Client;
  delete(client: Client): void;
  /** Keeps room for an answer of so many bytes until its client has gone; answers whether there is any. */
  promise(client: Client, bytes: number): boolean;
  /** To be called regularly. */
  look(): void;
  /** Cuts off who has kept the process waiting for longest, if anybody has for more than a moment. */
  makeRoom(): boolean;
  /** What waits, as it was last seen. */
  readonly bytes: number;
};

type Client = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly leave: () => void;
  readonly bytesReadBefore: number;
  /** How often in a row it was seen to be waited for. */
  seen: number;
  isTimed: boolean;
  /** Of the answer, once it is known. */
  answerBytes: number;
};

/**
 * A body or an answer on its way through a network that is well takes fewer looks, of which there are ten in
 * a second. They are counted instead of the time, because while this process has too much to do it is not the
 * clients who are slow.
 */
const LOOKS_MAX = 10;
const RETRY_AFTER_SECONDS = '1';

/** `onCut` is told of each that is cut off. */
export const createSlowClients = (limits: SlowClientLimits, onCut: () => void): SlowClients => {
  const { clientBytesMax, bodyBytesMax, stalledMaxMs } = limits;
  const clients = new Set<Client>();
  /** Those who have kept us waiting for longest, first. */
  let slow: Client[] = [];
  let bytes = 0;
  /** Of all answers that are on their way. */
  let promised = 0;
  const makeRoom = (): Client | undefined => {
    for (let client = slow.shift(); client; client = slow.shift()) {
      if (!clients.has(client) || !isAwaited(client)) continue;
      onCut();
      cutOff(client);
      return client;
    }
    return undefined;
  };
  return {
    enter(given) {
      const client: Client = {
        ...given,
        bytesReadBefore: given.request.socket.bytesRead,
        seen: 0,
        isTimed: false,
        answerBytes: 0,
      };
      clients.add(client);
      return client;
    },
    delete(client) {
      if (clients.delete(client)) promised -= client.answerBytes;
    },
    promise(client, answerBytes) {
      // The first has room however large it is.
      while (promised > 0 && promised + answerBytes > clientBytesMax)
        if (makeRoom() === undefined) return false;
      if (clients.has(client)) {
        client.answerBytes = answerBytes;
        promised += answerBytes;
      }
      return true;
    },
    look() {
      const awaited = [...clients].filter((client) => note(client, stalledMaxMs));
      slow = awaited.filter(({ seen }) => seen > LOOKS_MAX).toSorted((one, other) => other.seen - one.seen);
      bytes = awaited.reduce((sum, client) => sum + bytesOf(client, bodyBytesMax), 0);
      while (bytes > clientBytesMax) {
        const client = makeRoom();
        if (client === undefined) break;
        bytes -= bytesOf(client, bodyBytesMax);
      }
    },
    makeRoom: () => makeRoom() !== undefined,
    get bytes() {
      return bytes;
    },
  };
};

/**
 * Its body is still coming, or the answer is on its way. One that was asked for behind another has no socket
 * until its turn has come.
 */
const isAwaited = ({ request, response }: Client): boolean => !request.complete || isBeingTaken(response);

const isBeingTaken = ({
  socket,
  writableEnded,
  writableFinished,
  writableNeedDrain,
}: ServerResponse): boolean => socket !== null && ((writableEnded && !writableFinished) || writableNeedDrain);

/** Remembers how long a client has been waited for; answers whether it is. */
const note = (client: Client, stalledMaxMs: number): boolean => {
  const isTaking = isBeingTaken(client.response);
  // Node looks itself whether anything is taken, also in the midst of a write.
  if (isTaking !== client.isTimed) client.request.socket.setTimeout(isTaking ? stalledMaxMs : 0);
  client.isTimed = isTaking;
  client.seen = isTaking || !client.request.complete ? client.seen + 1 : 0;
  return client.seen > 0;
};

const bytesOf = ({ request, response, bytesReadBefore, answerBytes }: Client, bodyBytesMax: number): number =>
  Math.max(response.writableLength, answerBytes) +
  (request.complete ? 0 : Math.min(request.socket.bytesRead - bytesReadBefore, bodyBytesMax));

const cutOff = ({ request, response, leave }: Client): void => {
  leave();
  // An answer that has begun cannot be taken back, and one behind another cannot be given yet.
  if (request.complete || response.headersSent || response.socket === null)
    return void request.socket.destroy();
  // What still comes of it is nothing to be carried out any more.
  request.pause();
  answerOnSocket(
    new HttpProblem('overloaded', { headers: { 'Retry-After': RETRY_AFTER_SECONDS } }),
    request.socket,
  );
};

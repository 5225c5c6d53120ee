import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { answerOnSocket } from './broken-request.ts';

export type SlowClientLimits = {
  /** The maximum of waiting bytes, in unfinished bodies and unreceived responses together. */
  readonly clientBytesMax: number;
  /** Memory for one body is limited to this; a larger body is refused, or passed on as it arrives. */
  readonly bodyBytesMax: number;
  /** A response without progress for this long is cut off. */
  readonly stalledMaxMs: number;
};

/** The requests in progress that wait for their client: to send a body, or to receive a response. */
export type SlowClients = {
  enter(client: Pick<Client, 'request' | 'response' | 'leave'>): Client;
  delete(client: Client): void;
  /**
   * Reserves room for a response of this size until its client has gone; returns whether there is room.
   */
  promise(client: Client, bytes: number): boolean;
  /** To be called regularly. */
  look(): void;
  /** Cuts off the client that has kept the process waiting longest, if any has for more than a moment. */
  makeRoom(): boolean;
  /** The waiting bytes at the last look. */
  readonly bytes: number;
};

type Client = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly leave: () => void;
  readonly bytesReadBefore: number;
  /** The number of looks in a row that found it waiting. */
  seen: number;
  isTimed: boolean;
  /** Of the response, once it is known. */
  answerBytes: number;
};

/**
 * On a healthy network a body or response takes fewer looks; there are ten a second. Counts looks instead of
 * time, because while this process is overloaded the clients are not the slow ones.
 */
const LOOKS_MAX = 10;
const RETRY_AFTER_SECONDS = '1';

/** Calls `onCut` for each client that it cuts off. */
export const createSlowClients = (limits: SlowClientLimits, onCut: () => void): SlowClients => {
  const { clientBytesMax, bodyBytesMax, stalledMaxMs } = limits;
  const clients = new Set<Client>();
  /** The slowest clients first. */
  let slow: Client[] = [];
  let bytes = 0;
  /** The bytes of all responses under way. */
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

/** Its body is unfinished, or its response under way. A pipelined request has no socket until its turn. */
const isAwaited = ({ request, response }: Client): boolean => !request.complete || isBeingTaken(response);

const isBeingTaken = ({
  socket,
  writableEnded,
  writableFinished,
  writableNeedDrain,
}: ServerResponse): boolean => socket !== null && ((writableEnded && !writableFinished) || writableNeedDrain);

/** Counts for how long a client has been waited for; returns whether it is. */
const note = (client: Client, stalledMaxMs: number): boolean => {
  const isTaking = isBeingTaken(client.response);
  // Node itself checks for progress, even within one write.
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
  // A response that has begun cannot be taken back, and that of a pipelined request cannot be sent yet.
  if (request.complete || response.headersSent || response.socket === null)
    return void request.socket.destroy();
  // The rest of its body must no longer be carried out.
  request.pause();
  answerOnSocket(
    new HttpProblem('overloaded', { headers: { 'Retry-After': RETRY_AFTER_SECONDS } }),
    request.socket,
  );
};

import type { StreamingRead } from '@eventstore/db-client';
import { mayLeaveStuck, PassingFailure } from './failures.ts';
import type { ReadConnection } from './read-connection.ts';

export type Reading<Resolved> = Listening & {
  /** Returns whether to continue reading. */
  onEvent(resolved: Resolved): boolean;
  readonly signal: AbortSignal;
};

const REPLACED = 'the client that reads from EventStoreDB was replaced';

/**
 * Passes on the results of a read until it ends, enough were taken, it fails, falls silent, or is aborted.
 * Cancels the call unless it ended: leaving the loop over it would keep it open on the server.
 */
export const takeAll = async <Resolved>(
  read: StreamingRead<Resolved>,
  { onEvent, signal, ...listening }: Reading<Resolved>,
): Promise<void> => {
  const { promise: over, resolve, reject } = Promise.withResolvers<'ended' | 'left'>();
  let isOver = false;
  const { connection } = listening;
  const { client } = connection;
  using silence = new Silence(listening, reject);
  const onAbort = () => resolve('left');
  signal.addEventListener('abort', onAbort);
  read.on('data', (resolved) => {
    connection.onReceived();
    if (isOver) return;
    silence.heard();
    try {
      if (!onEvent(resolved)) resolve('left');
      else return;
    } catch (error) {
      reject(error);
    }
    isOver = true;
  });
  read.on('end', () => {
    connection.onReceived();
    resolve('ended');
  });
  // This listener stays: without one, a late error would end the process.
  read.on('error', reject);
  if (signal.aborted) onAbort();
  const isReplaced = () => connection.client !== client;
  let ended = false;
  try {
    ended = (await over) === 'ended';
    // A client that is closed ends its reads as if they were complete.
    if (ended && isReplaced()) throw new PassingFailure(REPLACED);
  } catch (error) {
    if (isReplaced()) throw new PassingFailure(REPLACED, { cause: error });
    if (mayLeaveStuck(error)) connection.replace(client);
    throw error;
  } finally {
    isOver = true;
    signal.removeEventListener('abort', onAbort);
    if (!ended) read.cancel().catch(() => {});
  }
};

type Listening = {
  readonly connection: ReadConnection;
  /** A server that sends nothing for so long counts as unreachable, and its connection as silent. */
  readonly silenceMaxMs: number;
  /**
   * Asks the server how long it may search before it sends the next record. It is asked again during each
   * silence: one that answers nothing else either does not search.
   */
  readonly searchMs?: (() => Promise<number>) | undefined;
};

/**
 * Gives a read up when the server has been silent for too long, at its beginning or after any of its records.
 * If it has answered nothing else meanwhile, the connection is replaced: one slow read proves nothing while
 * others are answered.
 */
class Silence implements Disposable {
  readonly #listening: Listening;
  readonly #giveUp: (error: PassingFailure) => void;
  readonly #client: ReadConnection['client'];
  readonly #looking: NodeJS.Timeout;
  #hasHeard = false;
  #sinceMs = performance.now();
  #receivedBefore: number;
  /** How many halves of the longest silence have passed. */
  #halves = 0;
  #searchMaxMs = 0;

  constructor(listening: Listening, giveUp: (error: PassingFailure) => void) {
    this.#listening = listening;
    this.#giveUp = giveUp;
    this.#client = listening.connection.client;
    this.#receivedBefore = listening.connection.received;
    this.#looking = setInterval(() => this.#look(), listening.silenceMaxMs / 2);
  }

  /** The read has received something. */
  heard(): void {
    this.#hasHeard = true;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#looking);
  }

  #look(): void {
    const { connection } = this.#listening;
    if (this.#hasHeard) {
      this.#hasHeard = false;
      this.#sinceMs = performance.now();
      this.#receivedBefore = connection.received;
      this.#halves = 0;
      this.#searchMaxMs = 0;
      return;
    }
    this.#halves += 1;
    if (this.#halves === 1) this.#askSearch();
    else if (this.#halves % 2 === 0) this.#decide();
  }

  #decide(): void {
    const { connection } = this.#listening;
    const silentMs = performance.now() - this.#sinceMs;
    const isAlive = connection.received !== this.#receivedBefore;
    if (isAlive && silentMs < this.#searchMaxMs) {
      this.#receivedBefore = connection.received;
      this.#askSearch();
      return;
    }
    this.#giveUp(new PassingFailure(`EventStoreDB sent nothing for ${Math.round(silentMs)} ms`));
    if (!isAlive) connection.replace(this.#client);
  }

  #askSearch(): void {
    const allow = (ms: number) => {
      this.#searchMaxMs = ms;
    };
    this.#listening.searchMs?.().then(allow, () => {});
  }
}

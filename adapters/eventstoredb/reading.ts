import type { StreamingRead } from '@eventstore/db-client';
import { mayLeaveStuck, PassingFailure } from './failures.ts';
import type { ReadConnection } from './read-connection.ts';

export type Reading<Resolved> = {
  /** Returns whether to continue reading. */
  onEvent(resolved: Resolved): boolean;
  readonly connection: ReadConnection;
  /** A server that sends nothing for so long counts as unreachable, and its connection as silent. */
  readonly silenceMaxMs: number;
  /**
   * Asks the server how long it may search before it sends anything. It is asked again during each silence:
   * one that answers nothing else either does not search.
   */
  readonly searchMs?: (() => Promise<number>) | undefined;
  readonly signal: AbortSignal;
};

const REPLACED = 'the client that reads from EventStoreDB was replaced';

/**
 * Passes on the results of a read until it ends, enough were taken, it fails, falls silent, or is aborted.
 * Cancels the call unless it ended: leaving the loop over it would keep it open on the server.
 */
export const takeAll = async <Resolved>(
  read: StreamingRead<Resolved>,
  { onEvent, connection, silenceMaxMs, searchMs, signal }: Reading<Resolved>,
): Promise<void> => {
  const { promise: over, resolve, reject } = Promise.withResolvers<'ended' | 'left'>();
  let isOver = false;
  let hasReceived = false;
  const { client } = connection;
  let receivedBefore = connection.received;
  const startedAtMs = performance.now();
  let searchMaxMs = 0;
  const allow = (ms: number) => {
    searchMaxMs = ms;
  };
  const askSearch = () => {
    if (!hasReceived) searchMs?.().then(allow, () => {});
  };
  const asking = setTimeout(askSearch, silenceMaxMs / 2);
  const onSilence = () => {
    const isAlive = connection.received !== receivedBefore;
    receivedBefore = connection.received;
    const silentMs = performance.now() - startedAtMs;
    if (!hasReceived && isAlive && silentMs < searchMaxMs) {
      askSearch();
      silence.refresh();
      return;
    }
    if (!hasReceived) reject(new PassingFailure(`EventStoreDB sent nothing for ${Math.round(silentMs)} ms`));
    // One slow read proves nothing while others are answered.
    if (!isAlive) connection.replace(client);
    hasReceived = false;
    silence.refresh();
  };
  const silence = setTimeout(onSilence, silenceMaxMs);
  const onAbort = () => resolve('left');
  signal.addEventListener('abort', onAbort);
  read.on('data', (resolved) => {
    connection.onReceived();
    if (isOver) return;
    hasReceived = true;
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
    clearTimeout(asking);
    clearTimeout(silence);
    signal.removeEventListener('abort', onAbort);
    if (!ended) read.cancel().catch(() => {});
  }
};

import type { StreamingRead } from '@eventstore/db-client';
import { mayLeaveStuck, PassingFailure } from './failures.ts';
import { type Listening, Silence } from './silence.ts';

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

import type { Duplex } from 'node:stream';

/** The call that carries all appends of a client: requests go in, answers come out, in any order. */
export type AppendCall = Duplex;

type Guard = {
  /** Aborted when the client has been replaced. */
  readonly retired: AbortSignal;
  /** Before an answer is given to whoever waits for it. */
  onAnswer(): void;
  onEnded(): void;
};

/**
 * Keeps three faults of the client from the process.
 *
 * An answer to a request that it has forgotten (the server gave two, or another client's failure emptied the list that all clients share)
 * makes it throw where no promise catches it. Nothing is lost when such an answer is dropped.
 *
 * Where writes wait for the call to drain when it fails, it rejects a promise that nobody holds, which ends the process as well.
 * So the call always takes what is written; how much that is, is bounded by who appends.
 *
 * A call that fails rejects the appends of every client. The end of one that was replaced is no news to its successor.
 */
export const guardAppendCall = (call: AppendCall, { retired, onAnswer, onEnded }: Guard): AppendCall => {
  const write = call.write.bind(call);
  call.write = (request: unknown) => {
    write(request);
    return true;
  };
  replaceListeners(call, 'data', (hear, answer) => {
    onAnswer();
    try {
      hear(answer);
    } catch {
      // An append that still waits for this answer runs into its own timer.
    }
  });
  let hasFailed = false;
  replaceListeners(call, 'error', (hear, error) => {
    hasFailed = true;
    if (!retired.aborted) hear(error);
  });
  // The client notices a call that fails, and goes where the failure says; but not one that ends: it would go on writing to it.
  call.on('end', () => {
    if (!retired.aborted && !hasFailed) onEnded();
  });
  return call;
};

type Hear = (heard: unknown) => unknown;

const replaceListeners = (call: AppendCall, event: 'data' | 'error', guarded: (hear: Hear, heard: unknown) => void): void => {
  const listeners = call.listeners(event);
  call.removeAllListeners(event);
  for (const listener of listeners) call.on(event, (heard: unknown) => guarded((what) => listener.call(call, what), heard));
};

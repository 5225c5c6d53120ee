/** Waits; throws the reason if it is aborted. */
export const wait = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });

/** Stops waiting for a promise on abort; other callers continue to wait for it. */
export const unlessAborted = <Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> => {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
};

/** Shares one call among all callers. A failure is not cached: the next caller starts another. */
export const shareCall = <Value>(call: () => Promise<Value>): (() => Promise<Value>) => {
  let shared: Promise<Value> | undefined;
  return () => {
    shared ??= call().catch((error: unknown) => {
      shared = undefined;
      throw error;
    });
    return shared;
  };
};

const FIRST_MS = 250;

/**
 * Doubles each time up to a maximum, and picks a random value from the upper half, so that many clients do
 * not retry at once.
 */
export const backoffMs = (attempt: number, maxMs: number): number => {
  const fullMs = Math.min(FIRST_MS * 2 ** attempt, maxMs);
  return fullMs * (0.5 + Math.random() / 2);
};

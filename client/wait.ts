/** Waits, unless it is aborted before; then it throws the reason. */
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

/** Of a promise that others wait for too: they go on waiting. */
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

/** One call for all. A failure is not kept: the next caller begins another. */
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
 * Twice as long each time up to a maximum, and anywhere in the upper half of that, so that many clients do
 * not come at once.
 */
export const backoffMs = (attempt: number, maxMs: number): number => {
  const fullMs = Math.min(FIRST_MS * 2 ** attempt, maxMs);
  return fullMs * (0.5 + Math.random() / 2);
};

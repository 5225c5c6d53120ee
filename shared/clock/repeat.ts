/** Runs until it is disposed: then the signal aborts, and disposal waits for the end. */
export const untilDisposed = (run: (signal: AbortSignal) => Promise<unknown>): AsyncDisposable => {
  const stopping = new AbortController();
  const running = run(stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
};

type Repeating = {
  work(signal: AbortSignal): Promise<unknown>;
  /** Resolves when the next work is due, or as soon as the signal aborts. */
  wait(signal: AbortSignal): Promise<unknown>;
  /** Whether the first work waits too. */
  readonly waitsFirst?: boolean;
  /** `inRow` counts the failures since the last success. */
  onFailure(error: unknown, inRow: number): void;
};

/** Works again and again until it is disposed, whether the work fails or not. */
export const repeat = ({ work, wait, waitsFirst = false, onFailure }: Repeating): AsyncDisposable =>
  untilDisposed(async (signal) => {
    if (waitsFirst) await wait(signal);
    for (let inRow = 0; !signal.aborted; await wait(signal)) {
      try {
        await work(signal);
        inRow = 0;
      } catch (error) {
        inRow += 1;
        if (!signal.aborted) onFailure(error, inRow);
      }
    }
  });

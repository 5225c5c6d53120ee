import type { Clock } from '#shared/clock/clock.ts';

export type Newest<Value> = AsyncDisposable & {
  /** Written in the background; one that follows before that replaces it. */
  offer(value: Value): void;
};

type Options<Value> = {
  readonly clock: Clock;
  /** The least time from one to the next. */
  readonly everyMs: number;
  /** The signal says that the process stops. */
  write(value: Value, signal: AbortSignal): Promise<void>;
  onFailure(error: unknown): void;
};

/** Writes the newest of many values. It waits for nobody, and nobody for it. The last one is written at the end. */
export const writeNewest = <Value>({ clock, everyMs, write, onFailure }: Options<Value>): Newest<Value> => {
  const stopping = new AbortController();
  let offered: { readonly value: Value } | undefined;
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (offered !== undefined) {
      const { value } = offered;
      offered = undefined;
      await write(value, stopping.signal).catch(onFailure);
      await clock.sleep(everyMs, stopping.signal);
    }
    running = undefined;
  };
  return {
    offer(value) {
      offered = { value };
      running ??= run();
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
};

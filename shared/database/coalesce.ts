import { promisify } from 'node:util';

/** Finds the values of many keys at once; a key without a value is left out. */
type LoadMany<Key, Value> = (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>;

const KEYS_MAX = 500;

const endOfTurn = promisify(setImmediate);

/** For reads that nearly always come alone: what the latest statement read, of those who share it. */
export type Pace = { latestKeys: number };

/** The first read of all waits for the end of its turn. */
export const createPace = (): Pace => ({ latestKeys: Number.POSITIVE_INFINITY });

type Options = {
  readonly keysMax?: number;
  /** After a statement for a single read, the next read runs at once: a turn costs more than its few handlers. */
  readonly pace?: Pace;
};

/**
 * Combines reads into one statement if they arrive while another is in progress, or in the same turn of the
 * event loop. A single read runs at the end of its turn, so that no read waits unnecessarily. A read never
 * joins a statement under way, which may have begun before the data that it must see.
 */
export const coalesce = <Key, Value>(
  loadMany: LoadMany<Key, Value>,
  { keysMax = KEYS_MAX, pace }: Options = {},
): ((key: Key) => Promise<Value | undefined>) => {
  const waiting = new Map<Key, PromiseWithResolvers<Value | undefined>>();
  let isLoading = false;
  const loadAllThatWait = async (): Promise<void> => {
    isLoading = true;
    if (pace === undefined || pace.latestKeys > 1) await endOfTurn();
    while (waiting.size > 0) {
      const batch = [...waiting.entries().take(keysMax)];
      for (const [key] of batch) waiting.delete(key);
      if (pace !== undefined) pace.latestKeys = batch.length;
      try {
        const found = await loadMany(batch.map(([key]) => key));
        for (const [key, reader] of batch) reader.resolve(found.get(key));
      } catch (error) {
        for (const [, reader] of batch) reader.reject(error);
      }
    }
    isLoading = false;
  };
  return (key) => {
    const reader = waiting.get(key) ?? Promise.withResolvers<Value | undefined>();
    waiting.set(key, reader);
    if (!isLoading) void loadAllThatWait();
    return reader.promise;
  };
};

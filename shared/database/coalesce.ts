import { promisify } from 'node:util';

/** Finds the values of many keys at once; a key without a value is left out. */
type LoadMany<Key, Value> = (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>;

const KEYS_MAX = 500;

const endOfTurn = promisify(setImmediate);

/**
 * Combines reads into one statement if they arrive while another is in progress, or in the same turn of the
 * event loop. A single read runs at the end of its turn, so that no read waits unnecessarily. A read never
 * joins a statement under way, which may have begun before the data that it must see.
 */
export const coalesce = <Key, Value>(
  loadMany: LoadMany<Key, Value>,
  keysMax: number = KEYS_MAX,
): ((key: Key) => Promise<Value | undefined>) => {
  const waiting = new Map<Key, PromiseWithResolvers<Value | undefined>>();
  let isLoading = false;
  const loadAllThatWait = async (): Promise<void> => {
    isLoading = true;
    await endOfTurn();
    while (waiting.size > 0) {
      const batch = [...waiting.entries().take(keysMax)];
      for (const [key] of batch) waiting.delete(key);
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

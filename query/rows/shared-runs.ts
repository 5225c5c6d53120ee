type Entry<Value> = { readonly running: Promise<Value>; next?: Promise<Value> };

/** Executes `run`, or waits for another caller’s run with the same key. */
type SharedRuns<Value> = (key: string, run: () => Promise<Value>) => Promise<Value>;

/**
 * Callers that come with the same key during a run share one next run. Nobody joins the current run: it may
 * have begun before what the new caller must see.
 */
export const createSharedRuns = <Value>(): SharedRuns<Value> => {
  const entries = new Map<string, Entry<Value>>();
  const begin: SharedRuns<Value> = (key, run) => {
    const entry: Entry<Value> = { running: run() };
    entries.set(key, entry);
    const forget = () => {
      if (entry.next === undefined) entries.delete(key);
    };
    entry.running.then(forget, forget);
    return entry.running;
  };
  return (key, run) => {
    const entry = entries.get(key);
    if (entry === undefined) return begin(key, run);
    const after = () => begin(key, run);
    entry.next ??= entry.running.then(after, after);
    return entry.next;
  };
};

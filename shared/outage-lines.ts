/** Decides which lines about failures are logged. */
export type OutageLines = {
  /** Undefined if a line with the same key was logged within a minute; otherwise how many it stands for. */
  admit(key: string): { readonly repeated: number } | undefined;
};

const LINE_EVERY_MS = 60_000;
const KEYS_MAX = 200;

/** At most one line for each key and minute. */
export const createOutageLines = (elapsedMs: () => number): OutageLines => {
  const lines = new Map<string, { readonly loggedAtMs: number; repeated: number }>();
  return {
    admit(key) {
      const line = lines.get(key);
      const nowMs = elapsedMs();
      if (line !== undefined && nowMs - line.loggedAtMs < LINE_EVERY_MS) {
        line.repeated += 1;
        return undefined;
      }
      // The oldest comes first.
      lines.delete(key);
      lines.set(key, { loggedAtMs: nowMs, repeated: 0 });
      for (const oldest of lines.keys()) {
        if (lines.size <= KEYS_MAX) break;
        lines.delete(oldest);
      }
      return { repeated: line?.repeated ?? 0 };
    },
  };
};

/** The messages of an error’s causes, the nearest first; of the error itself, if it has none. */
export const causesOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const messages: string[] = [];
  for (let cause = error.cause; cause instanceof Error && messages.length < DEPTH_MAX; cause = cause.cause)
    if (cause.message !== '') messages.push(cause.message);
  return messages.length === 0 ? error.message : messages.join(': ');
};

const DEPTH_MAX = 8;

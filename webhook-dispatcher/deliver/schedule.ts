/** So much more or less, that what failed together does not come again together. */
const JITTER = 0.2;

type Failed = {
  /** Of the setting WEBHOOK_RETRY_SCHEDULE. */
  readonly delaysMs: readonly number[];
  /** How many attempts failed before this one. */
  readonly attempts: number;
  /** From 0 up to 1. */
  readonly random: number;
  /** What the receiver asks for at least. */
  readonly retryAfterMs: number | undefined;
};

/** When to try again what has failed once more; never, where the schedule is over. */
export const retryInMs = ({ delaysMs, attempts, random, retryAfterMs = 0 }: Failed): number | undefined => {
  const delayMs = delaysMs[attempts];
  if (delayMs === undefined) return undefined;
  const jittered = Math.round(delayMs * (1 + JITTER * (2 * random - 1)));
  // Not sooner than asked for, and not all at that very moment either.
  return Math.max(jittered, Math.round(retryAfterMs * (1 + JITTER * random)));
};

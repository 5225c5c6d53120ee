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

/** What a receiver asks for beyond this, it does not get. */
const RETRY_AFTER_MAX_MS = 86_400_000;

/**
 * How long an answer asks us to wait (RFC 9110, 10.2.3): seconds, or a date. Nothing where it says neither.
 */
export const retryAfterMs = (value: string | undefined, nowMs: number): number | undefined => {
  const asked = value?.trim() ?? '';
  const waitMs = /^\d+$/.test(asked)
    ? Number(asked) * 1_000
    : HTTP_DATE.test(asked)
      ? Date.parse(asked) - nowMs
      : Number.NaN;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), RETRY_AFTER_MAX_MS);
};

/** `Sun, 06 Nov 1994 08:49:37 GMT`, and how it was written before 1995. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;

/** Spreads the retries of deliveries that failed together. */
const JITTER = 0.2;

type Failed = {
  /** From the setting WEBHOOK_RETRY_SCHEDULE. */
  readonly delaysMs: readonly number[];
  /** The number of earlier failures. */
  readonly attempts: number;
  /** From 0 up to 1. */
  readonly random: number;
  /** The minimum that the receiver asks for. */
  readonly retryAfterMs: number | undefined;
};

/** The delay until the next attempt; undefined if the schedule is exhausted. */
export const retryInMs = ({ delaysMs, attempts, random, retryAfterMs = 0 }: Failed): number | undefined => {
  const delayMs = delaysMs[attempts];
  if (delayMs === undefined) return undefined;
  const jittered = Math.round(delayMs * (1 + JITTER * (2 * random - 1)));
  // Not sooner than asked for, and spread over later times.
  return Math.max(jittered, Math.round(retryAfterMs * (1 + JITTER * random)));
};

/** Longer requests of a receiver are cut to this. */
const RETRY_AFTER_MAX_MS = 86_400_000;

/** The delay that a response asks for (RFC 9110, 10.2.3): seconds or a date; undefined if it is neither. */
export const retryAfterMs = (value: string | undefined, nowMs: number): number | undefined => {
  const asked = value?.trim() ?? '';
  const waitMs = /^\d+$/.test(asked)
    ? Number(asked) * 1_000
    : HTTP_DATE.test(asked)
      ? Date.parse(asked) - nowMs
      : Number.NaN;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), RETRY_AFTER_MAX_MS);
};

/** `Sun, 06 Nov 1994 08:49:37 GMT`, and the forms from before 1995. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;

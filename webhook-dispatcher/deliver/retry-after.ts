/** What a receiver asks for beyond this, it does not get. */
const RETRY_AFTER_MAX_MS = 86_400_000;

/** How long an answer asks us to wait (RFC 9110, 10.2.3): seconds, or a date. Nothing where it says neither. */
export const retryAfterMs = (value: string | undefined, nowMs: number): number | undefined => {
  const asked = value?.trim() ?? '';
  const waitMs = /^\d+$/.test(asked) ? Number(asked) * 1_000 : HTTP_DATE.test(asked) ? Date.parse(asked) - nowMs : Number.NaN;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), RETRY_AFTER_MAX_MS);
};

/** `Sun, 06 Nov 1994 08:49:37 GMT`, and how it was written before 1995. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;

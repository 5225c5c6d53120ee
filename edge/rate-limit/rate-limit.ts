/** The limit of a key: `burst` units at once, refilled at `unitsPerSecond`. */
export type RatePolicy = {
  /** Distinguishes the policy’s keys from those of another, and names it to clients. */
  readonly name: string;
  readonly unitsPerSecond: number;
  readonly burst: number;
};

/** The result of a request for units. */
export type Taken = {
  /** Whether all units were granted; otherwise none were, and the refusal costs nothing. */
  readonly allowed: boolean;
  /** The burst. */
  readonly limit: number;
  /** The units available now. */
  readonly remaining: number;
  /** The time until the same request can succeed: 0 if it has, infinite if it exceeds the burst. */
  readonly retryAfterMs: number;
  /** The time until there is one unit more than `remaining`. */
  readonly refillMs: number;
  /** The time until the whole burst is available again. */
  readonly resetMs: number;
};

/**
 * Grants units by key, so that over any time t no key gets more than burst + unitsPerSecond · t, in all
 * processes together; never throws.
 */
export type RateLimit = {
  readonly policy: RatePolicy;
  /** The time to refill a burst that was used up. */
  readonly windowMs: number;
  /** `units` is a whole number. Returns a promise only if a shared engine counts. */
  take(key: string, units: number): Taken | Promise<Taken>;
};

/** One engine, shared by any number of policies. */
export type RateLimits = AsyncDisposable & { of(policy: RatePolicy): RateLimit };

/** How much a key may take: `burst` units at once, and as they are used up `unitsPerSecond` new ones. */
export type RatePolicy = {
  /** Tells the policy's keys from those of another, and names it to clients. */
  readonly name: string;
  readonly unitsPerSecond: number;
  readonly burst: number;
};

/** What became of a request for units. */
export type Taken = {
  /** Whether all units were given; otherwise none were, and the refusal costs nothing. */
  readonly allowed: boolean;
  /** The burst. */
  readonly limit: number;
  /** Units that could be taken now. */
  readonly remaining: number;
  /** Until the same request can succeed: 0 when it has, infinite when it asks for more than the burst. */
  readonly retryAfterMs: number;
  /** Until there is one unit more than `remaining`. */
  readonly refillMs: number;
  /** Until the whole burst is there again. */
  readonly resetMs: number;
};

/**
 * Gives units by key, so that over any time t no key is given more than burst + unitsPerSecond · t, whoever
 * asks where; never throws.
 */
export type RateLimit = {
  readonly policy: RatePolicy;
  /** How long a burst that was used up takes to come back whole. */
  readonly windowMs: number;
  /** `units` is a whole number. Returns a promise only if a shared engine counts. */
  take(key: string, units: number): Taken | Promise<Taken>;
};

/** One engine, shared by any number of policies. */
export type RateLimits = AsyncDisposable & { of(policy: RatePolicy): RateLimit };

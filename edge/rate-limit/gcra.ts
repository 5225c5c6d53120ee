import type { RateLimit, RatePolicy, Taken } from './rate-limit.ts';

/**
 * The generic cell rate algorithm (ITU-T I.371). The only state of a key is one time, its theoretical
 * arrival: when its last unit would have arrived from a client that keeps to the rate exactly. Units are
 * allowed if they push it no further ahead of now than a burst takes at that rate. Times are whole
 * microseconds, so that every engine counts exactly alike.
 */
export type Charge = {
  readonly policy: string;
  readonly key: string;
  /** By how much the units push the arrival. */
  readonly costUs: number;
  /** The maximum by which it may be ahead of now. */
  readonly toleranceUs: number;
};

/** `aheadUs` is the distance of the arrival from now, after the charge if there was one. */
export type Charged = { readonly allowed: boolean; readonly aheadUs: number };

/** An engine: it decides on a charge and stores the arrival, atomically for each key, by one clock. */
export type Arrivals = AsyncDisposable & { charge(charge: Charge): Charged | Promise<Charged> };

const US_PER_SECOND = 1_000_000;
const US_PER_MS = 1_000;

/** The limit of a policy, counted by an engine. */
export const createRateLimit = (arrivals: Arrivals, policy: RatePolicy): RateLimit => {
  const { name, burst, unitsPerSecond } = policy;
  // Rounded up, so that the rate is never exceeded.
  const unitUs = Math.ceil(US_PER_SECOND / unitsPerSecond);
  const toleranceUs = burst * unitUs;
  return {
    policy,
    windowMs: msOf(toleranceUs),
    take(key, units) {
      if (!Number.isSafeInteger(units) || units < 0)
        throw new RangeError(`units are a whole number, not ${units}`);
      const isPossible = units <= burst;
      // An impossible charge costs nothing; the engine returns the rest of the result.
      const costUs = isPossible ? units * unitUs : 0;
      const takenOf = ({ allowed, aheadUs }: Charged): Taken => {
        const remaining = Math.floor((toleranceUs - aheadUs) / unitUs);
        const refused = isPossible ? msOf(aheadUs + costUs - toleranceUs) : Number.POSITIVE_INFINITY;
        return {
          allowed: allowed && isPossible,
          limit: burst,
          remaining,
          retryAfterMs: allowed && isPossible ? 0 : refused,
          refillMs: remaining === burst ? 0 : msOf(aheadUs - (burst - remaining - 1) * unitUs),
          resetMs: msOf(aheadUs),
        };
      };
      const charged = arrivals.charge({ policy: name, key, costUs, toleranceUs });
      return charged instanceof Promise ? charged.then(takenOf) : takenOf(charged);
    },
  };
};

const msOf = (us: number): number => Math.ceil(us / US_PER_MS);

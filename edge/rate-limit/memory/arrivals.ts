import type { Clock } from '#shared/clock/clock.ts';
import type { Arrivals, Charge, Charged } from '../gcra.ts';

/**
 * Keys of one policy; beyond it the longest unused key is dropped, which favours that client, but bounds the
 * memory of this process.
 */
const KEYS_MAX = 100_000;
/** More than the added one, so that expired keys go faster than new ones come. */
const LOOKS_PER_NEW_KEY = 2;

export const microsecondsOf =
  ({ elapsedMs }: Pick<Clock, 'elapsedMs'>) =>
  (): number =>
    Math.floor(elapsedMs() * 1_000);

/** Stores arrivals for one process. */
export const memoryArrivals = ({
  nowUs,
  keysMax = KEYS_MAX,
}: {
  nowUs: () => number;
  keysMax?: number;
}): Omit<Arrivals, 'charge'> & {
  charge(charge: Charge): Charged;
  readonly size: () => number;
} => {
  const policies = new Map<string, Map<string, number>>();
  return {
    charge({ policy, key, costUs, toleranceUs }) {
      const arrivals = policies.get(policy) ?? new Map<string, number>();
      policies.set(policy, arrivals);
      const now = nowUs();
      // Beyond the tolerance: the clock was set back, or the policy was larger. The key must not suffer for
      // it.
      const before = Math.min(Math.max(arrivals.get(key) ?? now, now), now + toleranceUs);
      const allowed = before + costUs <= now + toleranceUs;
      const arrival = allowed ? before + costUs : before;
      // Deleted first, so that the map is in the order in which its keys were last seen.
      if (!arrivals.delete(key)) makeRoom(arrivals, now, keysMax);
      if (arrival > now) arrivals.set(key, arrival);
      return { allowed, aheadUs: arrival - now };
    },
    size: () => [...policies.values()].reduce((sum, arrivals) => sum + arrivals.size, 0),
    [Symbol.asyncDispose]: async () => {},
  };
};

/** A past arrival says no more than none at all. */
const makeRoom = (arrivals: Map<string, number>, now: number, keysMax: number): void => {
  let looks = 0;
  for (const [key, arrival] of arrivals) {
    const isFull = arrivals.size >= keysMax;
    if (!isFull && (looks >= LOOKS_PER_NEW_KEY || arrival > now)) return;
    arrivals.delete(key);
    looks += 1;
  }
};

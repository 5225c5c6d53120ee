import type { Cohort } from './renderings.ts';

/** The cohort of a key: made where nobody has it, and else the one that the others have. */
export type SharedCohorts = (key: string, make: () => Omit<Cohort, 'key'>) => Cohort;

/**
 * Each is known for as long as anybody has it, so that what ten thousand readers of one cohort hold is a
 * reference each.
 */
export const createSharedCohorts = (): SharedCohorts => {
  const known = new Map<string, WeakRef<Cohort>>();
  const collected = new FinalizationRegistry<string>((key) => {
    // There may be another one by now.
    if (known.get(key)?.deref() === undefined) known.delete(key);
  });
  return (key, make) => {
    const shared = known.get(key)?.deref();
    if (shared !== undefined) return shared;
    const cohort: Cohort = { key, ...make() };
    known.set(key, new WeakRef(cohort));
    collected.register(cohort, key);
    return cohort;
  };
};

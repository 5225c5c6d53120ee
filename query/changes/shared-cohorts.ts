import type { Cohort } from './renderings.ts';

/** The cohort of a key: the one in use, or a new one. */
type SharedCohorts = (key: string, make: () => Omit<Cohort, 'key'>) => Cohort;

/**
 * A cohort is kept while a reader holds it, so ten thousand readers of one cohort hold one reference each.
 */
export const createSharedCohorts = (): SharedCohorts => {
  const known = new Map<string, WeakRef<Cohort>>();
  const collected = new FinalizationRegistry<string>((key) => {
    // A new one may have replaced it.
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

import { demandEqual } from '../equal.ts';

/** Counts comparisons, so that a suite reports how much it has checked, and one that checks nothing fails. */
export type Checks = {
  equal(actual: unknown, wanted: unknown, what: string): void;
  /** The same, counted under a name as well. */
  of(name: string): Checks;
  /** The number of checks, in total or of a name. */
  made(name?: string): number;
};

export const countChecks = (): Checks => {
  const counts = new Map<string, number>();
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  const countedAs = (names: readonly string[]): Checks => ({
    equal(actual, wanted, what) {
      for (const name of names) count(name);
      demandEqual(actual, wanted, what);
    },
    of: (name) => countedAs([...names, name]),
    made: (name = ALL) => counts.get(name) ?? 0,
  });
  return countedAs([ALL]);
};
const ALL = '';

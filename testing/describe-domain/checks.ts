import { demandEqual } from '../equal.ts';

/**
 * Counts what was compared, so that a suite tells how much it has looked at, and one that looks at nothing
 * fails.
 */
export type Checks = {
  equal(actual: unknown, wanted: unknown, what: string): void;
  /** The same, counted beside that under a name. */
  of(name: string): Checks;
  /** How many, or how many of a name. */
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

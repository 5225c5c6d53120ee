import { demandEqual } from '../equal.ts';

/** Counts what was compared, so that a suite tells how much it has looked at, and one that looks at nothing fails. */
export type Checks = {
  equal(actual: unknown, wanted: unknown, what: string): void;
  readonly made: () => number;
};

export const countChecks = (): Checks => {
  let made = 0;
  return {
    equal(actual, wanted, what) {
      made += 1;
      demandEqual(actual, wanted, what);
    },
    made: () => made,
  };
};

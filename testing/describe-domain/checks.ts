import { expect } from 'vitest';

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
      expect(actual, what).toEqual(wanted);
    },
    made: () => made,
  };
};

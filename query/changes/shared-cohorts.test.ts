import { expect, test } from 'vitest';
import { createSharedCohorts } from './shared-cohorts.ts';

test('requests with the same key share one cohort', () => {
  const cohortOf = createSharedCohorts();
  const make = () => ({ topics: ['all'] as const, render: async () => undefined });
  const [one, other] = [cohortOf('one', make), cohortOf('other', make)];
  expect(one).toMatchObject({ key: 'one', topics: ['all'] });
  expect(cohortOf('one', () => expect.fail('it is there'))).toBe(one);
  expect(other).not.toBe(one);
});

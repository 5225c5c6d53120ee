// Takes minutes
import { expect, test } from 'vitest';
import { SEED } from '../../testing/seed.ts';
import { grow } from './grow.ts';
import { SURFACES } from './surfaces.ts';

const DOMAINS = 1_000;
const AT_ONCE = 20;

/** Others each time; a fault is repeated by `npm run test:domains -- --count 1 --seed …`. */
test.each(Array.from({ length: DOMAINS / AT_ONCE }, (_, index) => SEED + index * AT_ONCE))(
  'twenty generated domains have all surfaces, from seed %i on',
  (first) => {
    const faults = Array.from({ length: AT_ONCE }, (_, index) => faultOf(first + index));
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  },
);

/** The declarations are printed by the tests of single domains. */
const faultOf = (seed: number): string | undefined => {
  try {
    const { domain } = grow(seed);
    for (const surface of Object.values(SURFACES)) surface(domain);
    return undefined;
  } catch (error) {
    return `seed ${seed}: ${(error as Error).stack}`;
  }
};

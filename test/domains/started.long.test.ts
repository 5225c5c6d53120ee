// Takes minutes
import { test } from 'vitest';
import { SEED } from '../../testing/seed.ts';
import { checkGenerated } from './check-domain.ts';

const EVERY_CHECK = 100;
/** Always the same ones; `npm run test:domains` looks for faults among others. */
const FIRST = 20;
const { DOMAINS_COUNT: count, DOMAINS_SHRINK: shrinks } = process.env;
const seeds =
  count === undefined
    ? Array.from({ length: FIRST }, (_, index) => index + 1)
    : Array.from({ length: Number(count) }, (_, index) => SEED + index);

test.each(seeds)('a generated domain starts, and its surfaces agree, with seed %i', (seed) =>
  checkGenerated(seed, { others: EVERY_CHECK, shrinks: shrinks === 'yes' }),
);

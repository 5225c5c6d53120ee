import { test } from 'vitest';
import { checkGenerated } from './check-domain.ts';

/** The others of `started.long.test.ts` take minutes. Always the same ones, because no submission should fail by a fault that it does not contain. */
const SEEDS = Array.from({ length: 8 }, (_, index) => index + 1);

test.each(SEEDS)('a generated domain starts, and its surfaces agree, with seed %i', (seed) =>
  checkGenerated(seed, { others: 1 }),
);

// Takes minutes
import { test } from 'vitest';
import { SEED } from '../../testing/seed.ts';
import { checkGenerated } from './check-domain.ts';

const COUNT = Number(process.env.DOMAINS_COUNT ?? 60);
const EVERY_CHECK = 100;

test.each(Array.from({ length: COUNT }, (_, index) => SEED + index))(
  'a generated domain starts, and its surfaces agree, with seed %i',
  (seed) => checkGenerated(seed, { others: EVERY_CHECK, shrinks: process.env.DOMAINS_SHRINK === 'yes' }),
);

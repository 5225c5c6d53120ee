import { expect, test } from 'vitest';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { SEED } from '../../testing/seed.ts';
import { build } from './build.ts';
import { grow } from './grow.ts';
import type { DomainPlan } from './plan.ts';
import { SURFACES } from './surfaces.ts';

const DOMAINS = Number(process.env.DOMAINS_COUNT ?? 3);

/** Persons confirm every command that clients can send. */
const confirmed = (plan: DomainPlan): DomainPlan => {
  const copy = structuredClone(plan);
  for (const { commands } of Object.values(copy.aggregates))
    for (const command of Object.values(commands))
      if (command.internal !== true) Object.assign(command, { confirm: 'person' });
  return copy;
};

test.each(Array.from({ length: DOMAINS }, (_, index) => SEED + index))(
  'persons confirm the commands of any domain, or a sentence says why they cannot, with seed %i',
  (seed) => {
    try {
      const domain = build(confirmed(grow(seed).plan));
      for (const surface of Object.values(SURFACES)) surface(domain);
      expect(Object.keys(domain.kinds)).toContain('agentRequest');
    } catch (error) {
      if (!(error instanceof StartRefused)) throw error;
      expect(error.message).toMatch(/`confirm`.+\.$/s);
    }
  },
);

import { expect, test } from 'vitest';
import { SEED } from '../../testing/seed.ts';
import { assembled, grow } from './grow.ts';
import type { AggregatePlan } from './plan.ts';
import { fileOf } from './source.ts';
import { SURFACES } from './surfaces.ts';

const DOMAINS = Number(process.env.DOMAINS_COUNT ?? 2);

const eventsThat = ({ events }: AggregatePlan, isIt: (ends: boolean) => boolean): readonly string[] =>
  Object.keys(events).filter((name) => isIt(events[name]?.ends === true));

/** Holds on everything that ends, and retention where one command does nothing else. */
const kept = (aggregate: AggregatePlan): void => {
  const ends = eventsThat(aggregate, (isEnd) => isEnd);
  const run = Object.keys(aggregate.commands).find((name) => {
    const [emits, ...others] = [aggregate.commands[name]?.emits].flat();
    return others.length === 0 && ends.includes(String(emits));
  });
  if (run === undefined) return;
  aggregate.more.hold = { right: { signedIn: true } };
  const after = eventsThat(aggregate, (isEnd) => !isEnd);
  aggregate.more.retain = { for: '2 years', after: [...after], run };
};

test.each(Array.from({ length: DOMAINS }, (_, index) => SEED + index))(
  'items of any domain are held and kept, or a sentence says why they cannot, with seed %i',
  (seed) => {
    const plan = structuredClone(grow(seed).plan);
    for (const aggregate of Object.values(plan.aggregates)) kept(aggregate);
    const domain = assembled(plan);
    if (typeof domain === 'string') return expect(domain).toMatch(/^\S.*[.]$/s);
    try {
      for (const surface of Object.values(SURFACES)) surface(domain);
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).stack}\n${fileOf(plan)}`, { cause: error });
    }
    for (const [name, { more }] of Object.entries(plan.aggregates)) {
      const { hold, retain } = domain.kinds[name] ?? {};
      expect([hold, retain !== undefined]).toEqual([more.hold && true, more.retain !== undefined]);
    }
  },
);

import type { Random } from '../../testing/random.ts';
import { someOf } from './names.ts';
import type { AggregatePlan, DomainPlan, JsonRecord } from './plan.ts';
import { type GrowStep, kindIn, withEvent } from './steps-content.ts';

/**
 * The words of regulated domains. They are added last, with random numbers of their own, so that the rest of a
 * declaration stays that of its seed.
 */
export const REGULATED: ReadonlyMap<string, GrowStep> = new Map<string, GrowStep>([
  ['logReads', logReads],
  ['logSomeReads', logSomeReads],
  ['demandReason', demandReason],
  ['demandSignature', demandSignature],
  ['hold', hold],
  ['holdUsers', holdUsers],
  ['retain', retain],
]);

function logReads(plan: DomainPlan, random: Random): boolean {
  const [, aggregate] = kindIn(plan, random);
  aggregate.more.reads = 'logged';
  if (random.chance(60)) aggregate.rights.readers = rightTo(plan, aggregate, random);
  return true;
}

function logSomeReads(plan: DomainPlan, random: Random): boolean {
  const [, aggregate] = kindIn(plan, random);
  const log = someOf(random, Object.keys(aggregate.fields), 1);
  aggregate.more.reads = { log: [...log], ifUnwritable: random.pick(['refuse', 'serve']) };
  return true;
}

function demandReason(plan: DomainPlan, random: Random): boolean {
  const [, { commands }] = kindIn(plan, random);
  for (const command of Object.values(commands).filter(() => random.chance(50))) command.reason = 'required';
  return true;
}

function demandSignature(plan: DomainPlan, random: Random): boolean {
  const [, { commands }] = kindIn(plan, random);
  random.pick(Object.values(commands)).signed = { meaning: random.pick(['approval', 'review']) };
  return true;
}

function hold(plan: DomainPlan, random: Random): boolean {
  const [, aggregate] = kindIn(plan, random);
  endOf(aggregate, random);
  aggregate.more.hold = { right: rightTo(plan, aggregate, random) };
  return true;
}

function holdUsers(plan: DomainPlan, random: Random): boolean {
  plan.user.hold = { right: random.pick<JsonRecord>([{}, { [random.pick(plan.roles)]: true }]) };
  return true;
}

function retain(plan: DomainPlan, random: Random): boolean {
  const [, aggregate] = kindIn(plan, random);
  const { events } = aggregate;
  const others = Object.keys(events).filter((name) => events[name]?.ends !== true);
  aggregate.more.retain = {
    for: random.pick(['30 days', '18 months', '10 years']),
    after: [...someOf(random, others, 1)],
    run: endOf(aggregate, random),
  };
  return true;
}

/** The command that only ends the aggregate, which many lack. */
const endOf = (aggregate: AggregatePlan, random: Random): string => {
  const { events, commands } = aggregate;
  const known = Object.keys(commands).find((name) => {
    const { emits } = commands[name] ?? {};
    return typeof emits === 'string' && events[emits]?.ends === true;
  });
  return known ?? withEvent(aggregate, random, { ends: true });
};

const rightTo = ({ roles }: DomainPlan, { owner }: AggregatePlan, random: Random): JsonRecord =>
  random.pick<JsonRecord>([
    {},
    { [random.pick(roles)]: true },
    { signedIn: true },
    ...(owner === undefined ? [] : [{ signedIn: 'own' }]),
  ]);

/** Without signatures, which the checks cannot give. */
export const unsigned = (plan: DomainPlan): DomainPlan => {
  const copy = structuredClone(plan);
  for (const { commands } of Object.values(copy.aggregates))
    for (const command of Object.values(commands)) delete command.signed;
  return copy;
};

export const isSigned = ({ aggregates }: DomainPlan): boolean =>
  Object.values(aggregates).some(({ commands }) =>
    Object.values(commands).some(({ signed }) => signed !== undefined),
  );

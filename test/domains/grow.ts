import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { type Random, randomOf } from '../../testing/random.ts';
import { build } from './build.ts';
import { clone, type DomainPlan } from './plan.ts';
import * as content from './steps-content.ts';
import * as items from './steps-items.ts';
import * as machines from './steps-machines.ts';
import { REGULATED } from './steps-regulated.ts';
import * as rights from './steps-rights.ts';
import * as rules from './steps-rules.ts';
import * as views from './steps-views.ts';

const isStep = (each: readonly [string, unknown]): each is [string, content.GrowStep] =>
  /^(?:add|set)/.test(each[0]);
/** Every kind of addition, by name. */
export const STEPS: ReadonlyMap<string, content.GrowStep> = new Map(
  [content, items, rights, rules, views, machines].flatMap((each) => Object.entries(each).filter(isStep)),
);
const { addAggregate, addField, addReference } = content;
/** These come more often, because the others need them. */
const BASIC: readonly string[] = [
  ...['addField', 'addField', 'addReference', 'setRight'],
  ...['addList', 'addList', 'addItemAction', 'addItemAction', 'addItemStates'],
];

export type Grown = {
  readonly seed: number;
  readonly plan: DomainPlan;
  readonly domain: Domain;
  /** The additions that the assembly accepted. */
  readonly taken: readonly string[];
  /** The sentences with which it refused others. */
  readonly refused: readonly string[];
};

/** An assembly may refuse a declaration, but never otherwise fail. */
export class AssemblyFailed extends Error {
  readonly plan: DomainPlan;

  constructor(plan: DomainPlan, cause: unknown) {
    super(`the assembly failed: ${cause instanceof Error ? cause.stack : cause}`, { cause });
    this.plan = plan;
  }
}

/** The domain, or the sentence that refuses it. */
export const assembled = (plan: DomainPlan): Domain | string => {
  try {
    const domain = build(plan);
    operationsOf(domain);
    return domain;
  } catch (error) {
    if (error instanceof StartRefused) return error.message;
    throw new AssemblyFailed(plan, error);
  }
};

const REGULATED_PERCENT = 50;
const ROLES = ['member', 'manager', 'guest', 'editor'];
type Size = {
  readonly aggregates?: number;
  readonly steps?: number;
  /** Additions that it refuses are left out. */
  readonly suits?: (plan: DomainPlan) => boolean;
};

/** Grows a declaration by random additions, of which it keeps those that the assembly accepts. */
export const grow = (seed: number, size: Size = {}): Grown => {
  const random = randomOf(seed);
  const { aggregates = 1 + random.below(3), steps = 10 + random.below(40), suits = () => true } = size;
  let plan: DomainPlan = {
    roles: ROLES.slice(0, 1 + random.below(3)),
    user: { fields: {}, fieldRights: {} },
    aggregates: {},
    views: {},
    senders: {},
  };
  const [taken, refused]: [string[], string[]] = [[], []];
  let domain: Domain | undefined;
  const attempt = (name: string, step: content.GrowStep, by = random): void => {
    const draft = clone(plan);
    if (!step(draft, by) || !suits(draft)) return;
    const made = assembled(draft);
    if (typeof made === 'string') return void refused.push(made);
    [plan, domain] = [draft, made];
    taken.push(name);
  };
  while (Object.keys(plan.aggregates).length < aggregates) attempt('addAggregate', addAggregate);
  attempt('addField', addField);
  attempt('addReference', addReference);
  const names = [...STEPS.keys(), ...BASIC].filter((name) => name !== 'addAggregate');
  for (let count = 0; count < steps; count += 1) {
    const name = pickOf(random, names);
    attempt(name, STEPS.get(name) ?? addField);
  }
  const ofRules = randomOf(seed + 1);
  for (const [name, step] of REGULATED) if (ofRules.chance(REGULATED_PERCENT)) attempt(name, step, ofRules);
  return { seed, plan, domain: domain as Domain, taken, refused };
};

const pickOf = (random: Random, names: readonly string[]): string => random.pick(names);

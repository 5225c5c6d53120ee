import type { Domain } from '#kernel/registry/registry.ts';
import { compareContracts } from '../../command-line/domain/contract/compare.ts';
import { contractOf } from '../../command-line/domain/contract/contract.ts';
import { randomOf } from '../../testing/random.ts';
import { assembled, type Grown, STEPS } from './grow.ts';
import { clone, type DomainPlan, type FieldPlan } from './plan.ts';
import { randomField } from './random-fields.ts';
import { addAction, addAggregate, type GrowStep, kindIn } from './steps-content.ts';
import { addView } from './steps-views.ts';

type Release = { readonly plan: DomainPlan; readonly domain: Domain; readonly taken: readonly string[] };

/** A field that events of the former release lack. */
const addOptionalField: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const field: FieldPlan = randomField(random);
  field.options.optional = [];
  const edit = Object.values(aggregate.events).find(({ changes, sets }) => changes && !sets);
  if (edit?.changes === undefined || Object.hasOwn(aggregate.fields, 'later')) return false;
  aggregate.fields.later = field;
  edit.changes = [...edit.changes, 'later'];
  return true;
};

/** Each release has these, if the declaration has room for them. */
const ALWAYS: readonly (readonly [string, GrowStep])[] = [
  ['addAggregate', addAggregate],
  ['addAction', addAction],
  ['addOptionalField', addOptionalField],
  ['addView', addView],
];
const OTHERS = 8;

/** The next release of a domain: additions that `domain check` calls additions. */
export const nextRelease = (
  { seed, plan, domain }: Pick<Grown, 'seed' | 'plan' | 'domain'>,
  suits: (plan: DomainPlan) => boolean,
): Release => {
  const random = randomOf(seed);
  const recorded = contractOf(domain);
  let next: Release = { plan, domain, taken: [] };
  const names = [...STEPS.keys()];
  const drawn = Array.from({ length: OTHERS }, () => random.pick(names));
  for (const [name, step] of [...ALWAYS, ...drawn.map((each) => [each, STEPS.get(each)] as const)]) {
    const draft = clone(next.plan);
    if (!step?.(draft, random) || !suits(draft)) continue;
    const made = assembled(draft);
    if (typeof made === 'string') continue;
    if (compareContracts(recorded, contractOf(made)).some(({ weight }) => weight !== 'adds')) continue;
    next = { plan: draft, domain: made, taken: [...next.taken, name] };
  }
  return next;
};

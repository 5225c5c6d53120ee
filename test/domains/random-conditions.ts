import type { Json } from '#kernel/base/json.ts';
import type { Random } from '../../testing/random.ts';
import type { AggregatePlan, DomainPlan, FieldPlan, FieldPlans } from './plan.ts';
import { valuesFor } from './random-fields.ts';

type Match = Record<string, Json>;

/** A condition on an aggregate that type-checks; the assembly may refuse it at its place. */
export const randomCondition = (plan: DomainPlan, kind: string, random: Random, depth = 2): Json => {
  const [first, second] = [partOf(plan, kind, random, depth), partOf(plan, kind, random, depth)];
  const [one, other] = [first ?? second, second];
  if (one === undefined) return {};
  if (other === undefined || random.chance(60)) return one;
  if (random.chance(50)) return [one, other] as Json;
  return { ...asMatch(one), ...asMatch(other) };
};

const asMatch = (part: Json): Match => (typeof part === 'string' ? { [part]: true } : (part as Match));

/** The words that name a fact. */
export const factsOf = ({ fields, owner, more }: AggregatePlan): readonly string[] => [
  ...Object.values(fields).flatMap(({ type, given }) =>
    type === 'choice' || type === 'states' ? given.map(String) : [],
  ),
  ...(owner === undefined ? [] : ['own']),
  ...Object.keys((more.facts ?? {}) as object),
];

const partOf = (plan: DomainPlan, kind: string, random: Random, depth: number): Json | undefined => {
  const aggregate = plan.aggregates[kind];
  if (aggregate === undefined) return undefined;
  const facts = factsOf(aggregate);
  if (facts.length > 0 && random.chance(40)) {
    const fact = random.pick(facts);
    return random.chance(70) ? fact : { [fact]: random.chance(30) };
  }
  const derived = Object.keys((aggregate.more.derived ?? {}) as object);
  if (derived.length > 0 && random.chance(15))
    return { [random.pick(derived)]: random.pick([{ min: 1 }, { max: 2 }, 0]) };
  const names = Object.keys(aggregate.fields);
  if (names.length === 0) return undefined;
  const name = random.pick(names);
  const field = aggregate.fields[name] as FieldPlan;
  const [other] = names.filter((each) => each !== name && areComparable(field, aggregate.fields[each]));
  if (other !== undefined && random.chance(20))
    return {
      [name]: random.pick<Json>([{ field: other }, { not: { field: other } }, { min: { field: other } }]),
    };
  const match = matchOf(plan, kind, field, { random, depth });
  return match === undefined ? undefined : { [name]: match };
};

const areComparable = (one: FieldPlan, other: FieldPlan | undefined): boolean =>
  one.type === other?.type && ['integer', 'date', 'instant', 'line', 'flag'].includes(one.type);

type Drawing = { readonly random: Random; readonly depth: number };

const matchOf = (plan: DomainPlan, kind: string, field: FieldPlan, drawing: Drawing): Json | undefined => {
  const { random, depth } = drawing;
  const callers = callerFieldsLike(plan, field);
  if (callers.length > 0 && random.chance(30)) return { caller: random.pick(callers) };
  if (field.type === 'list') {
    const some = itemMatch(field.item ?? {}, random);
    return some === undefined ? undefined : { some };
  }
  if (field.type !== 'ref') return valueMatch(field, random);
  if (field.options.optional && random.chance(30)) return random.pick([null, { not: null }]);
  const target = String(field.given[0]);
  if (target === 'user')
    return random.pick<Json>(['caller', 'caller', { caller: false }, { role: random.pick(plan.roles) }]);
  // Conditions on aggregates that are declared later do not type-check.
  const names = Object.keys(plan.aggregates);
  if (depth === 0 || names.indexOf(target) >= names.indexOf(kind)) return undefined;
  return randomCondition(plan, target, random, depth - 1);
};

const callerFieldsLike = ({ user }: DomainPlan, { type, given }: FieldPlan): readonly string[] =>
  Object.entries(user.fields).flatMap(([name, field]) =>
    field.type === type && (type !== 'choice' || String(field.given) === String(given)) ? [name] : [],
  );

export const itemMatch = (item: FieldPlans, random: Random): Json | undefined => {
  const [name, field] = random.pick(Object.entries(item));
  if (field.type === 'ref') return field.given[0] === 'user' ? { [name]: 'caller' } : undefined;
  const match = valueMatch(field, random);
  return match === undefined ? undefined : { [name]: match };
};

export const valueMatch = (field: FieldPlan, random: Random): Json | undefined => {
  const values = valuesFor(field);
  if (values.length === 0) return undefined;
  const value = random.pick(values);
  if (field.options.optional && random.chance(20)) return random.pick([null, { not: null }]);
  const isOrdered = ['integer', 'date', 'instant', 'line'].includes(field.type);
  if (isOrdered && random.chance(50))
    return random.pick<Json>([{ min: value }, { max: value }, { min: value, max: value }]);
  return random.pick<Json>([value, value, [...values], { not: value }, { not: [...values.slice(0, 1)] }]);
};

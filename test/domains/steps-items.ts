import type { Json } from '#kernel/base/json.ts';
import type { Random } from '../../testing/random.ts';
import { newName, someOf } from './names.ts';
import type { FieldPlan, FieldPlans, JsonRecord } from './plan.ts';
import { itemMatch } from './random-conditions.ts';
import { randomField } from './random-fields.ts';
import { type GrowStep, kindIn, targetIn, withEvent } from './steps-content.ts';

/** An event that sets a field of an item, and perhaps one of its aggregate, and a condition on the item. */
export const addItemAction: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const lists = Object.entries(aggregate.fields).filter(([, { type }]) => type === 'list');
  if (lists.length === 0) return false;
  const [list, { item = {}, given }] = random.pick(lists);
  const { key } = given[0] as { readonly key?: string };
  const settable = Object.entries(item).flatMap(([name, field]) => {
    const value = settableValue(field, random);
    return name === key || value === undefined ? [] : [[name, value] as const];
  });
  if (settable.length === 0) return false;
  const [field, value] = random.pick(settable);
  const states = Object.entries(aggregate.fields).find(([, { type }]) => type === 'states');
  const also = states && random.chance(30) ? { also: { [states[0]]: states[1].given.at(-1) ?? '' } } : {};
  const effect = random.pick(['updates', 'updates', 'adds']);
  const fields = Object.keys(item).filter((name) => name !== field && name !== key);
  const command = withEvent(aggregate, random, {
    [effect]: list,
    sets: { [field]: value },
    ...also,
    ...(random.chance(50) && { fields: someOf(random, fields) }),
  });
  const match = effect === 'updates' && random.chance(50) ? itemMatch(item, random) : undefined;
  if (match !== undefined) (aggregate.commands[command] as JsonRecord).whenItem = match;
  return true;
};

const settableValue = ({ type, given, options }: FieldPlan, random: Random): Json | undefined => {
  if (type === 'instant') return 'now';
  if (type === 'ref') return given[0] === 'user' ? 'caller' : undefined;
  if (type === 'flag') return random.chance(50);
  if (type === 'choice' || type === 'states') return random.pick(given);
  return options.optional ? null : undefined;
};

/** Items may have states of their own, which only events set. */
export const addItemStates: GrowStep = (plan, random) => {
  const [, { fields, events }] = kindIn(plan, random);
  const lists = Object.entries(fields).filter(([, { type }]) => type === 'list');
  if (lists.length === 0) return false;
  const [list, { item = {} }] = random.pick(lists);
  const name = newName(random, 'field', item);
  item[name] = { type: 'states', given: ['todo', 'done'], options: {} };
  const finish = Object.values(events).find(({ updates, sets }) => updates === list && !sets);
  if (finish === undefined) return false;
  finish.sets = { [name]: 'done' };
  return true;
};

export const addList: GrowStep = (plan, random) => {
  const [, aggregate] = kindIn(plan, random);
  const name = newName(random, 'list', aggregate.fields);
  const item: FieldPlans = {};
  if (random.chance(50))
    item[newName(random, 'reference', item)] = { type: 'ref', given: [targetIn(plan, random)], options: {} };
  for (const field of random.some(2, () => randomField(random))) item[newName(random, 'field', item)] = field;
  if (Object.keys(item).length === 0) item[newName(random, 'field', item)] = randomField(random);
  const isOrdered = random.chance(40);
  const keyed = random.chance(40) ? random.pick(Object.keys(item)) : undefined;
  const options = {
    max: random.pick([1, 3, 10, 1_000]),
    ...(isOrdered && { ordered: true }),
    ...(keyed && { key: keyed }),
  };
  aggregate.fields[name] = { type: 'list', given: [options], item, options: {} };
  withEvent(aggregate, random, { adds: name });
  for (const effect of ['updates', 'removes', ...(isOrdered ? ['moves'] : [])])
    if (random.chance(70)) withEvent(aggregate, random, { [effect]: name });
  return true;
};

import type { Json } from '#kernel/base/json.ts';
import { newName } from './names.ts';
import type { FieldPlan, JsonRecord, ViewPlan } from './plan.ts';
import { creationOf, type GrowStep, kindIn } from './steps-content.ts';

/** Times that a view can be keyed by. */
const isTime = (field: FieldPlan | undefined): boolean =>
  (field?.type === 'date' || field?.type === 'instant') && field.options.personal === undefined;

export const addView: GrowStep = (plan, random) => {
  const [kind, aggregate] = kindIn(plan, random);
  const { fields, events } = aggregate;
  const keys = Object.entries(fields).filter(([, { type }]) =>
    ['ref', 'choice', 'integer', 'line', 'states'].includes(type),
  );
  const numbers = creationOf(aggregate).creates.filter((name) => fields[name]?.type === 'integer');
  const created = Object.keys(events).find((name) => events[name]?.creates);
  if (keys.length === 0 || created === undefined) return false;
  const [by, field] = random.pick(keys);
  const part = newName(random, 'reference', {});
  const gives: Record<string, Json> = {
    total: 1,
    ...(numbers.length > 0 && { summed: random.pick(numbers), mean: random.pick(numbers) }),
    ...(random.chance(50) && { first: 'now' }),
  };
  const period = random.pick([undefined, 'day', 'week', 'month'] as const);
  const times = ['now', ...creationOf(aggregate).creates.filter((name) => isTime(fields[name]))];
  const inTime = period === undefined ? {} : { [`${part}In`]: random.pick(times) };
  const view: ViewPlan = {
    of: [kind],
    key: {
      [part]: { type: field.type === 'states' ? 'choice' : field.type, given: field.given, options: {} },
      ...(period !== undefined && {
        [`${part}In`]: { type: period === 'day' ? 'date' : period, given: [], options: {} },
      }),
    },
    values: {
      total: { value: 'sum', isSorted: random.chance(50) },
      ...(gives.summed !== undefined && {
        summed: { value: 'sum' },
        mean: { value: 'avg', isSorted: random.chance(50) },
      }),
      ...(gives.first !== undefined && {
        first: {
          value: random.pick(['min', 'max'] as const),
          field: { type: 'instant', given: [], options: random.chance(50) ? { sort: [] } : {} },
        },
      }),
    },
    from: { [kind]: { by: { [part]: by, ...inTime }, on: { [created]: { gives } } } },
    read: random.pick<JsonRecord>([
      { anyone: true },
      { signedIn: true },
      { [random.pick(plan.roles)]: true },
    ]),
  };
  plan.views[`by${Object.keys(plan.views).length}`] = view;
  return true;
};

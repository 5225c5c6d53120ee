import type { Random } from '../../testing/random.ts';
import { someOf } from './names.ts';
import type { AggregatePlan, JsonRecord } from './plan.ts';

/** None runs out while a domain is checked. */
const WAITS = ['1 hour', '3 days', '52 weeks'];

/** By a time in a field, by the word of a choice, or a fixed time after an event. */
export const randomStart = ({ fields, events }: AggregatePlan, random: Random): JsonRecord => {
  const namesOf = (...types: readonly string[]): readonly string[] =>
    Object.entries(fields).flatMap(([name, { type, options }]) =>
      types.includes(type) && options.personal === undefined ? [name] : [],
    );
  const [times, choices] = [namesOf('date', 'instant'), namesOf('choice', 'states')];
  if (times.length > 0 && random.chance(40))
    return { at: random.pick(times), ...(random.chance(50) && { before: random.pick(WAITS) }) };
  const by = random.pick(choices.length > 0 ? choices : ['']);
  const [one, other] = [random.pick(Object.keys(events)), random.pick(Object.keys(events))];
  const after = random.chance(70) || one === other ? one : [one, other];
  if (by === '' || random.chance(60)) return { after, wait: random.pick(WAITS) };
  const words = someOf(random, (fields[by]?.given ?? []).map(String), 1);
  return { after, wait: { [by]: Object.fromEntries(words.map((word) => [word, random.pick(WAITS)])) } };
};

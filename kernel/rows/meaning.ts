import type { Defs, EventInfo, Kind } from '../registry/registry.ts';

/**
 * Describes how events become rows, beyond their data and the tables: initial values, and the effect of each
 * event. Keyed by name, so that a changed part differs from a new one.
 */
export const meaningOf = ({ name, fields, lists, events }: Kind): Readonly<Record<string, string>> => ({
  ...initialOf(name, fields),
  ...Object.assign({}, ...Object.values(lists).map((list) => initialOf(`${name}/${list.name}`, list.fields))),
  ...Object.fromEntries(Object.values(events).map((event) => [event.type, effectOf(event)])),
});

const initialOf = (place: string, fields: Defs): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(fields).map(([field, { initial = null }]) => [
      `${place}/${field}`,
      JSON.stringify(initial),
    ]),
  );

const effectOf = ({ effect, list, sets, spec, carries, values }: EventInfo): string => {
  // Data of the event that it does not copy to its field.
  const carried = carries.filter((field) => !values.includes(field)).toSorted();
  const inOrder = Object.entries(sets).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([
    effect,
    list?.name,
    inOrder.map(([field, value]) => [field, textOf(value)]),
    spec.quiet,
    ...(carried.length > 0 ? [carried] : []),
  ]);
};

const textOf = (value: unknown): unknown =>
  typeof value === 'function' ? String(value).replaceAll(/\s+/g, ' ') : value;

import { isoText } from '#kernel/base/instant.ts';
import { FUNCTIONS } from '#kernel/rest/aggregates.ts';
import type { Group, Groups } from './groups.ts';

/** A group as REST shows it: `{ key: { status: 'paid' }, count: 3, sum: { total: 4200 } }`. */
export const represent = (
  { dimensions, measures, computed }: Groups,
  { keys, values }: Group,
): { readonly key: Readonly<Record<string, unknown>>; readonly [measure: string]: unknown } => {
  const shown = measures.map((measure) => {
    const value = values[computed.findIndex(({ name }) => name === measure.name)];
    return { measure, value: value instanceof Date ? isoText(value) : value };
  });
  const of = (name: (typeof FUNCTIONS)[number]) =>
    shown.flatMap(({ measure, value }) => (measure.of === name ? [[measure.field, value] as const] : []));
  const count = shown.find(({ measure }) => measure.of === 'count');
  return {
    key: Object.fromEntries(dimensions.map(({ field }, index) => [field, keys[index]])),
    ...(count && { count: count.value }),
    ...Object.fromEntries(
      FUNCTIONS.flatMap((name) => (of(name).length === 0 ? [] : [[name, Object.fromEntries(of(name))]])),
    ),
  };
};

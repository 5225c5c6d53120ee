import { wire } from '#kernel/base/names.ts';
import { periodOf } from '#kernel/base/period.ts';
import type { Dimension, Measure, MeasureFunction, Order } from '#kernel/rest/aggregates.ts';
import { type Found, type Group, type Groups, isDimension, placeOf } from './groups.ts';

/** An item as REST shows it to the caller, without fields that they may not read. */
export type Item = Readonly<Record<string, unknown>>;

/** The groups of items in memory, as the statement has them of rows. */
export const foldGroups = (items: readonly Item[], groups: Groups): Found => {
  const { dimensions, computed, having, order, limit } = groups;
  const byKey = Map.groupBy(items, (item) =>
    JSON.stringify(dimensions.map((dimension) => keyOf(item, dimension))),
  );
  // Without dimensions there is one group, also of nothing.
  if (dimensions.length === 0 && byKey.size === 0) byKey.set('[]', []);
  const found = [...byKey].map(
    ([key, of]): Group => ({
      keys: JSON.parse(key) as readonly unknown[],
      values: computed.map((measure) => measured(of, measure)),
    }),
  );
  const kept = found
    .filter(({ values }) =>
      having.every(({ measure, min = -Infinity, max = Infinity }) => {
        const value = values[placeOf(groups, { by: measure })];
        return typeof value === 'number' && value >= min && value <= max;
      }),
    )
    .toSorted((one, other) => compareBy(groups, order, one, other));
  return { groups: kept.slice(0, limit), hasMore: kept.length > limit };
};

/** A reference is shown as its id, or as an object with it. */
const valueIn = (item: Item, { field, def }: Pick<Dimension, 'field' | 'def'>): unknown => {
  const value = item[field] ?? item[wire(field, def)] ?? null;
  return typeof value === 'object' && value !== null && 'id' in value ? value.id : value;
};

const keyOf = (item: Item, dimension: Dimension): unknown => {
  const value = valueIn(item, dimension);
  return dimension.period === undefined || value === null ? value : periodOf(dimension.period, String(value));
};

const measured = (items: readonly Item[], measure: Measure): unknown => {
  if (measure.of === 'count') return items.length;
  const values = items.map((item) => valueIn(item, measure)).filter((value) => value !== null);
  return values.length === 0 ? null : FOLDS[measure.of](values);
};

const sumOf = (values: readonly unknown[]): number =>
  Number(values.reduce<bigint>((sum, value) => sum + BigInt(value as number), 0n));

const FOLDS: Readonly<Record<MeasureFunction, (values: readonly unknown[]) => unknown>> = {
  sum: (values) => sumOf(values),
  avg: (values) => sumOf(values) / values.length,
  min: (values) => values.toSorted(compare)[0],
  max: (values) => values.toSorted(compare).at(-1),
};

const compareBy = (groups: Groups, order: readonly Order[], one: Group, other: Group): number => {
  for (const each of order) {
    const of = (group: Group): unknown =>
      (isDimension(each.by) ? group.keys : group.values)[placeOf(groups, each)];
    const [left, right] = [of(one), of(other)];
    // Nulls last, also in the reverse order.
    const compared =
      left === null || right === null
        ? Number(left === null) - Number(right === null)
        : compare(left, right) * (each.descending ? -1 : 1);
    if (compared !== 0) return compared;
  }
  return 0;
};

/** Texts by their bytes, as the database sorts them. */
const compare = (one: unknown, other: unknown): number =>
  typeof one === 'string' && typeof other === 'string'
    ? Buffer.compare(Buffer.from(one), Buffer.from(other))
    : Number(one) - Number(other);

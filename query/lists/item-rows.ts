import { isoText } from '#kernel/base/instant.ts';
import type { Pool } from '#shared/database/pool.ts';
import { outsideOf } from '../rows/rights.ts';
import type { Filter, ItemSource } from '../rows/source.ts';
import type { Row } from '../rows/sources.ts';
import { Parameters, runShared } from '../rows/statement.ts';
import type { ItemGap } from './item-cursor.ts';

/** Columns read with each item, and the joins to the row i that they need. */
export type Joins = { readonly columns: string; readonly joins: string };
const NOTHING_ELSE: Joins = { columns: '', joins: '' };

export type AskedItems = {
  /** The window of a page: only items strictly between these two. */
  readonly after: ItemGap | undefined;
  readonly before: ItemGap | undefined;
  /** True reads from the end of the list. */
  readonly isBackward: boolean;
  readonly rowsMax: number;
  /** True includes the items that need a right of their own, beyond the right to their aggregate. */
  readonly isWhole: boolean;
  /** Only items with these values. */
  readonly only: readonly AskedValue[];
};

/** A value of a filter, and the column with which it is compared. */
export type AskedValue = Pick<Filter, 'column' | 'by'> & { readonly value: unknown };

/** The items of many aggregates in one statement, nearest first: from the end if `isBackward`. */
export const listItems = async (
  pool: Pool,
  items: ItemSource,
  {
    of: parents,
    asked,
    joined = NOTHING_ELSE,
  }: { readonly of: readonly number[]; readonly asked: AskedItems; readonly joined?: Joins },
): Promise<ReadonlyMap<number, readonly Row[]>> => {
  const { table, of, order, descending } = items;
  const parameters = new Parameters();
  const ids = parameters.add(parents);
  const places = [
    placeCondition(order, asked.after, descending ? '<' : '>', parameters),
    placeCondition(order, asked.before, descending ? '>' : '<', parameters),
    onlyOf(asked, parameters),
  ].join('');
  const ordered = (row: string): string =>
    order.map(({ name }) => `${row}.${name} ${asked.isBackward !== descending ? 'desc' : 'asc'}`).join(', ');
  const text = `select x.* from unnest(${ids}::bigint[]) as p (id) cross join lateral (
    select i.*${joined.columns} from ${table} i${joined.joins} where i.${of} = p.id${visible(items, asked)}${places}
    order by ${ordered('i')} limit ${parameters.add(asked.rowsMax)}::bigint) x order by ${ordered('x')}`;
  return Map.groupBy(await runShared<Row>(pool, text, parameters.values), (row) => row[of] as number);
};

const visible = (items: ItemSource, { isWhole }: Pick<AskedItems, 'isWhole'>): string =>
  [
    ...(isWhole || items.part === undefined ? [] : [` and ${outsideOf(items)}`]),
    ...(items.isPartial ? [` and i.${items.order[0]?.name} is not null`] : []),
  ].join('');

const onlyOf = ({ only }: Pick<AskedItems, 'only'>, parameters: Parameters): string =>
  only
    .map(({ column, by, value }) =>
      by === 'element'
        ? ` and i.${column} @> array[${parameters.add(value)}]`
        : ` and i.${column} = ${parameters.add(value)}`,
    )
    .join('');

const placeCondition = (
  order: ItemSource['order'],
  gap: ItemGap | undefined,
  comparison: '<' | '>',
  parameters: Parameters,
): string => {
  if (gap === undefined) return '';
  const values = valuesOf(gap);
  const given = order.map(({ type }, index) => `${parameters.add(values[index])}::${type}`);
  return ` and (${order.map(({ name }) => `i.${name}`).join(', ')}) ${comparison} (${given.join(', ')})`;
};

/** The values of a gap, in the order of the columns that the list is ordered by. */
export const valuesOf = ({ rank, id }: ItemGap): readonly (string | number)[] =>
  rank === undefined ? [id] : [rank, id];

/** The position of an item in the order of its list. */
export const gapOf = ({ order }: ItemSource, row: Row): ItemGap => {
  const [id, rank] = order.toReversed().map(({ name }) => row[name]);
  return {
    ...(rank !== undefined && { rank: rank instanceof Date ? isoText(rank) : String(rank) }),
    id: id as ItemGap['id'],
  };
};

export const countItems = async (
  pool: Pool,
  items: ItemSource,
  { of: parents, ...asked }: { readonly of: readonly number[] } & Pick<AskedItems, 'isWhole' | 'only'>,
): Promise<ReadonlyMap<number, number>> => {
  const { table, of } = items;
  const parameters = new Parameters();
  const ids = parameters.add(parents);
  const text = `select i.${of} as "of", count(*)::integer as count from ${table} i
    where i.${of} = any(${ids}::bigint[])${visible(items, asked)}${onlyOf(asked, parameters)} group by i.${of}`;
  const rows = await runShared<{ readonly of: number; readonly count: number }>(
    pool,
    text,
    parameters.values,
  );
  return new Map(rows.map(({ of: parent, count }) => [parent, count]));
};

type AskedItem = Pick<AskedItems, 'isWhole'> & {
  readonly of: number;
  readonly id: number | string;
  readonly joined?: Joins;
};

/** One item of an aggregate, by its key or id. */
export const findItem = async (
  pool: Pool,
  items: ItemSource,
  { of: parent, id, joined = NOTHING_ELSE, ...asked }: AskedItem,
): Promise<Row | undefined> => {
  const { table, of, list } = items;
  const isIt = `i.${of} = $1::bigint and i.${list.id.column} = $2::${list.id.def.column}`;
  const [row] = await runShared<Row>(
    pool,
    `select i.*${joined.columns} from ${table} i${joined.joins} where ${isIt}${visible(items, asked)}`,
    [parent, id],
  );
  return row;
};

type AskedUpload = { readonly of: number; readonly columns: readonly string[]; readonly path: string };

/**
 * Finds an upload among the items of an aggregate. `isForAll` is false if its item needs a right of its own.
 */
export const findUpload = async (
  pool: Pool,
  items: ItemSource,
  { of, columns, path }: AskedUpload,
): Promise<{ readonly isForAll: boolean; readonly address: string } | undefined> => {
  const isForAll = items.part === undefined ? 'true' : outsideOf(items);
  // The address of a file states its facts behind its path.
  const named = columns.map((column) => `i.${column}`).join(', ');
  const [row] = await runShared<{ readonly isForAll: boolean; readonly address: string }>(
    pool,
    `select ${isForAll} as "isForAll", a.address from ${items.table} i
    cross join lateral unnest(array[${named}]) a (address)
    where i.${items.of} = $1::bigint and split_part(a.address, '?', 1) = $2::text limit 1`,
    [of, path],
  );
  return row;
};

import type { Pool } from '#shared/database/pool.ts';
import type { ItemGap } from './lists/item-cursor.ts';
import type { ItemSource, Row } from './sources.ts';
import { Parameters, runShared } from './statement.ts';

/** The items of lists, read for all aggregates of whom the same is asked by one statement. */

/** What else is read with each item, joined to the row i. */
export type Joins = { readonly columns: string; readonly joins: string };
const NOTHING_ELSE: Joins = { columns: '', joins: '' };

/** Which items of a list are asked for. */
export type AskedItems = {
  /** Nothing beyond these places, which are left out themselves. */
  readonly after: ItemGap | undefined;
  readonly before: ItemGap | undefined;
  /** Whether the items at the end are asked for. */
  readonly isBackward: boolean;
  readonly rowsMax: number;
};

/** The items of each aggregate, nearest first: from the end, where the end was asked for. */
export const listItems = async (
  pool: Pool,
  { table, of, order }: ItemSource,
  { of: parents, asked, joined = NOTHING_ELSE }: { readonly of: readonly number[]; readonly asked: AskedItems; readonly joined?: Joins },
): Promise<ReadonlyMap<number, readonly Row[]>> => {
  const parameters = new Parameters();
  const ids = parameters.add(parents);
  const places = [placeCondition(order, asked.after, '>', parameters), placeCondition(order, asked.before, '<', parameters)].join('');
  const ordered = (row: string): string => order.map(({ name }) => `${row}.${name} ${asked.isBackward ? 'desc' : 'asc'}`).join(', ');
  const text = `select x.* from unnest(${ids}::bigint[]) as p (id) cross join lateral (
    select i.*${joined.columns} from ${table} i${joined.joins} where i.${of} = p.id${places}
    order by ${ordered('i')} limit ${parameters.add(asked.rowsMax)}::bigint) x order by ${ordered('x')}`;
  return Map.groupBy(await runShared<Row>(pool, text, parameters.values), (row) => row[of] as number);
};

const placeCondition = (order: ItemSource['order'], gap: ItemGap | undefined, comparison: '<' | '>', parameters: Parameters): string => {
  if (gap === undefined) return '';
  const values = valuesOf(gap);
  const given = order.map(({ type }, index) => `${parameters.add(values[index])}::${type}`);
  return ` and (${order.map(({ name }) => `i.${name}`).join(', ')}) ${comparison} (${given.join(', ')})`;
};

/** In the columns of the order. */
export const valuesOf = ({ rank, id }: ItemGap): readonly (string | number)[] => (rank === undefined ? [id] : [rank, id]);

/** Where an item is. */
export const gapOf = ({ order }: ItemSource, row: Row): ItemGap => {
  const [id, rank] = order.toReversed().map(({ name }) => row[name]);
  return { ...(rank !== undefined && { rank: String(rank) }), id: id as ItemGap['id'] };
};

export const countItems = async (
  pool: Pool,
  { table, of }: ItemSource,
  parents: readonly number[],
): Promise<ReadonlyMap<number, number>> => {
  const text = `select ${of} as "of", count(*)::integer as count from ${table} where ${of} = any($1::bigint[]) group by ${of}`;
  const rows = await runShared<{ readonly of: number; readonly count: number }>(pool, text, [parents]);
  return new Map(rows.map(({ of: parent, count }) => [parent, count]));
};

/** One item of an aggregate, by what tells it apart. */
export const findItem = async (
  pool: Pool,
  { table, of, list }: ItemSource,
  { of: parent, id, joined = NOTHING_ELSE }: { readonly of: number; readonly id: number | string; readonly joined?: Joins },
): Promise<Row | undefined> => {
  const isIt = `i.${of} = $1::bigint and i.${list.id.column} = $2::${list.id.def.column}`;
  const [row] = await runShared<Row>(pool, `select i.*${joined.columns} from ${table} i${joined.joins} where ${isIt}`, [parent, id]);
  return row;
};

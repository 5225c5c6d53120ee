import { orderSql } from '../lists/walk.ts';
import { Parameters, runWithCustomPlan } from '../rows/statement.ts';
import { type AskedRows, isDecisive, type Listing, pageSql, partsOf } from './list-rows.ts';

/** The lists of many parents: the column that refers to them, and their ids. Without a column, the rows of all. */
type OfEach = { readonly column: string | undefined; readonly ids: readonly number[] };

/** The lists of many parents in one statement, each nearest first. */
export const listRowsOfEach = async <Row extends object>(
  { pool, source, selection, caller }: Listing,
  asked: AskedRows,
  { column, ids }: OfEach,
): Promise<ReadonlyMap<number, readonly Row[]>> => {
  const parameters = new Parameters();
  const parents = parameters.add(ids);
  const parts = partsOf({ source, selection, caller, parameters }, asked, { belongs: column });
  if (parts.length === 0) return new Map();
  const page = pageSql(parts, { selection, parameters }, asked);
  const text = `select p.id as parent, x.* from unnest(${parents}::bigint[]) as p (id)
    cross join lateral (${page}) x ${orderSql(asked.sort.column, asked.stretch, 'x.')}`;
  const rows = await runWithCustomPlan<Row & { readonly parent: number }>(pool, text, parameters.values);
  return Map.groupBy(rows, ({ parent }) => parent);
};

/** The number of rows in the lists of many parents. */
export const countRowsOfEach = async (
  { pool, source, selection, caller }: Listing,
  asked: Pick<AskedRows, 'filter' | 'sort'>,
  { column, ids }: OfEach,
): Promise<ReadonlyMap<number, number>> => {
  const parameters = new Parameters();
  const parents = parameters.add(ids);
  const isSearch = isDecisive(source, asked);
  const parts = partsOf({ source, selection, caller, parameters }, asked, { belongs: column, isSearch });
  if (parts.length === 0) return new Map();
  const sum = parts.map((part) => `(select count(*) ${part})`).join(' + ');
  const text = `select p.id, (${sum})::integer as count from unnest(${parents}::bigint[]) as p (id)`;
  const rows = await runWithCustomPlan<{ id: number; count: number }>(pool, text, parameters.values);
  return new Map(rows.map(({ id, count }) => [id, count]));
};

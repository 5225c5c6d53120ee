import type { Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import type { Joins } from '../item-rows.ts';
import { readableRows } from '../rights.ts';
import type { Row } from '../sources.ts';
import { Parameters, runShared } from '../statement.ts';
import type { OrderColumn, ViewSource } from './source.ts';

/** Which rows of a view are asked for. */
export type AskedRows = {
  /** By columns. */
  readonly equal: Readonly<Record<string, unknown>>;
  /** By what they are ordered, the key last. */
  readonly order: readonly OrderColumn[];
  readonly isDescending: boolean;
  /** Rows without a value there are left out. */
  readonly present: string | undefined;
  /** Nothing up to this row, by its texts in the columns of the order. */
  readonly beyond: readonly string[] | undefined;
  readonly rowsMax: number;
};

/** The rows that the caller may read, in one order. */
export const listViewRows = (
  pool: Pool,
  source: ViewSource,
  caller: Caller,
  { asked, joined }: { readonly asked: AskedRows; readonly joined: Joins },
): Promise<readonly Row[]> => {
  const { equal, order, isDescending, present, beyond, rowsMax } = asked;
  const parameters = new Parameters();
  const columns = order.map(({ name }) => `t.${name}`).join(', ');
  const direction = isDescending ? 'desc' : 'asc';
  const conditions = [
    ...readableRows(caller, { kind: source.view.asked, right: source.right, parent: undefined }, parameters),
    ...Object.entries(equal).map(([name, value]) => `t.${name} = ${parameters.add(value)}`),
    ...(present === undefined ? [] : [`t.${present} is not null`]),
    ...(beyond === undefined
      ? []
      : [
          `(${columns}) ${isDescending ? '<' : '>'} (${order.map(({ type }, index) => `${parameters.add(beyond[index])}::${type}`).join(', ')})`,
        ]),
  ];
  const fits = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
  const places = order.map(({ name }, index) => `t.${name}::text as place_${index}`).join(', ');
  const page = `select t.*, ${places} from ${source.table} t${fits} order by ${order.map(({ name }) => `t.${name} ${direction}`).join(', ')}
    limit ${parameters.add(rowsMax)}::bigint`;
  const text = `select i.*${joined.columns} from (${page}) i${joined.joins} order by ${order.map(({ name }) => `i.${name} ${direction}`).join(', ')}`;
  return runShared<Row>(pool, text, parameters.values);
};

/** Where a row is, as texts that say numbers and moments as exactly as the database has them. */
export const placeOf = (row: Row, { length }: readonly OrderColumn[]): readonly string[] =>
  Array.from({ length }, (_, index) => String(row[`place_${index}`]));

import type { Arguments } from './arguments.ts';
import type { Mapping, Order, Row } from './mapping.ts';
import { OutOfPlan } from './out-of-plan.ts';
import { allOf, joined, Sql, sql } from './sql.ts';
import { pageSize } from './values.ts';

/** The rows that a field leads to, before a limit and a format are applied. */
export type Rows = {
  readonly mapping: Mapping;
  readonly args: Arguments;
  newRow(): Row;
  which(row: Row): readonly [Sql, ...Sql[]];
};

/** A plain list: the first rows. */
export const listJson = (rows: Rows, json: (row: Row) => Sql): Sql => {
  const row = rows.newRow();
  const order = orderOf(rows);
  const limit = rows.args.value('bigint', (values) => pageSize(values.limit));
  const first = firstOf(rows, row, { order, limit });
  return sql`(select coalesce('[' || string_agg(item.json, ',') || ']', '[]') from (select ${json(row)} as json ${first}) item)`;
};

type Stretch = { readonly order: Order; readonly limit: Sql; readonly within?: readonly Sql[] };

/**
 * The first rows of an order, as the text after `select`: the first of each part, and of these again the
 * first.
 */
export const firstOf = (rows: Rows, row: Row, { order, limit, within = [] }: Stretch): Sql => {
  const { table } = rows.mapping;
  const ending = sql`order by ${ordering(order, row)} limit ${limit}`;
  const parts = rows
    .which(row)
    .map((part) => sql`from ${table} ${row} where ${allOf([part, ...within])} ${ending}`);
  const [only = sql``, ...others] = parts;
  if (others.length === 0) return only;
  return sql`from (${joined(
    parts.map((part) => sql`(select ${row}.* ${part})`),
    sql` union all `,
  )}) ${row} ${ending}`;
};

/** The total number of rows. */
export const countOf = (rows: Rows): Sql => {
  const row = rows.newRow();
  return joined(
    rows.which(row).map((part) => sql`(select count(*) from ${rows.mapping.table} ${row} where ${part})`),
    sql` + `,
  );
};

export const orderOf = ({ mapping: { orders }, args }: Rows): Order => {
  const order = orders[args.choice('sort') ?? Object.keys(orders)[0] ?? ''];
  if (order === undefined) throw new OutOfPlan('an unknown order');
  return order;
};

export const ordering = ({ columns, descending }: Order, row: Row): Sql => {
  const direction = descending ? sql`desc` : sql`asc`;
  return joined(
    columns.map(({ name }) => sql`${row}.${Sql.identifier(name)} ${direction}`),
    sql`, `,
  );
};

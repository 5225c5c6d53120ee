import type { Arguments } from './arguments.ts';
import type { Pieces } from './json.ts';
import type { Parameter, Value } from './parameter.ts';
import type { Sql } from './sql.ts';

/** A row by its alias: `sql`${row}.id`` is a column of it. */
export type Row = Sql;

/**
 * The rows that a field leads to, as far as the caller may read them: those of any of the conditions. No row
 * meets two of them, and each keeps to what an index holds together in the order of lists, so that a list
 * reads no row that it would leave out again.
 */
export type Which = (row: Row, parent: Row, args: Arguments) => readonly [Sql, ...Sql[]];

/** What rows are ordered by: no two of a list have the same of the last column. */
export type Order = {
  readonly columns: readonly { readonly name: string; readonly type: Parameter['type'] }[];
  readonly descending: boolean;
  /** The columns of the place that a cursor names; throws `OutOfPlan` if it is one of something else. */
  placeOf(cursor: unknown): readonly Value[];
  /** The cursor of a row, as JSON. */
  cursorJson(row: Row): Sql;
};

/**
 * How an object type of the schema lies in the read model. A field that stands neither in `values` nor in
 * `rows` is not planned.
 */
export type Mapping = {
  readonly table: Sql;
  /** What its aliases begin with. */
  readonly letter: string;
  /** The leaves as JSON text, never null. */
  readonly values: Readonly<Record<string, (row: Row) => Pieces>>;
  /** The objects: one, a list or a connection, as the schema says. */
  readonly rows: Readonly<Record<string, Which>>;
  /** Whether the caller may read it by its id. */
  readonly isReadable: (row: Row) => Sql;
  /** By the names that `sort` has in the schema; the first is for lists without it. */
  readonly orders: Readonly<Record<string, Order>>;
};

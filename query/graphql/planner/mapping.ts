import type { Arguments } from './arguments.ts';
import type { Piece, Pieces } from './json.ts';
import type { Parameter, Value } from './parameter.ts';
import type { Sql } from './sql.ts';

/** A row by its alias: `sql`${row}.id`` is a column of it. */
export type Row = Sql;

/**
 * The readable rows that a field leads to: those that meet any of the conditions. No row meets two of them.
 * One index holds the rows of each in the order of lists, so a list reads no row that it has to drop.
 */
export type Which = (row: Row, parent: Row, args: Arguments) => readonly [Sql, ...Sql[]];

/** The order of a list. The last column is unique within it. */
export type Order = {
  readonly columns: readonly { readonly name: string; readonly type: Parameter['type'] }[];
  readonly descending: boolean;
  /** The columns of a cursor’s position; throws `OutOfPlan` if the cursor is of something else. */
  positionOf(cursor: unknown): readonly Value[];
  /** The cursor of a row, as JSON. */
  cursorJson(row: Row): Sql;
};

/**
 * Maps an object type of the schema to the read model. A field in neither `values` nor `rows` is not planned.
 */
export type Mapping = {
  readonly table: Sql;
  /** The first letter of its aliases. */
  readonly letter: string;
  /** The leaves as JSON text, never null. */
  readonly values: Readonly<Record<string, (row: Row) => Pieces>>;
  /** The objects: one, a list or a connection, as the schema says. */
  readonly rows: Readonly<Record<string, Which>>;
  /** The condition that the caller may read the row by id. */
  readonly isReadable: (row: Row) => Sql;
  /** Marks an object whose reads are logged, in its text; `takeMarks` removes the mark. */
  readonly mark?: ((row: Row, fields: readonly string[]) => readonly Piece[]) | undefined;
  /** The same of a number of such objects. */
  readonly countMark?: string | undefined;
  /** By the names of `sort` in the schema; the first is the default. */
  readonly orders: Readonly<Record<string, Order>>;
};

import { formatListCursor, listIdentity, parseListCursor } from '../../lists/cursor.ts';
import { concatenated } from './json.ts';
import type { Order, Row } from './mapping.ts';
import { OutOfPlan } from './out-of-plan.ts';
import { literal, Sql, sql } from './sql.ts';

/** Cursors of connections: those of the REST lists, with what a list is ordered by as its identity, because they stand in nested lists too. */

const identityOf = (table: string, { column }: Order): string => listIdentity({ table, column });

/** The row itself is the place, whichever side of it a page lies on. */
export const cursorOf = (table: string, order: Order, row: { readonly atMs: number; readonly id: number }): string =>
  formatListCursor(identityOf(table, order), { ...row, side: 'after' });

export const placeOf = (table: string, order: Order, cursor: unknown): { readonly at: string; readonly id: number } => {
  try {
    const { atMs, id } = parseListCursor(identityOf(table, order), String(cursor));
    return { at: new Date(atMs).toISOString(), id };
  } catch (error) {
    throw new OutOfPlan('a cursor of something else', { cause: error });
  }
};

/** What `cursorOf` makes, made by PostgreSQL; as JSON. */
export const cursorJson = (table: string, order: Order, row: Row): Sql => {
  const ms = sql`floor(extract(epoch from ${row}.${columnOf(order)}) * 1000)::bigint`;
  const text = concatenated([`["${identityOf(table, order)}",`, ms, ',', sql`${row}.id`, ',"after"]']);
  return sql`'"' || translate(encode(convert_to(${text}, 'UTF8'), 'base64'), ${literal('+/=\n')}, '-_') || '"'`;
};

export const columnOf = ({ column }: Order): Sql => Sql.identifier(column);

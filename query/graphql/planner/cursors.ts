import { itemType } from '#kernel/base/names.ts';
import { formatListCursor, listIdentity, parseListCursor } from '../../lists/cursor.ts';
import { formatItemCursor, type ItemGap, parseItemCursor } from '../../lists/item-cursor.ts';
import { valuesOf } from '../../lists/item-rows.ts';
import type { ItemSource } from '../../rows/source.ts';
import { concatenated, instantJson, type Piece, textJson } from './json.ts';
import type { Order } from './mapping.ts';
import { OutOfPlan } from './out-of-plan.ts';
import { literal, Sql, sql } from './sql.ts';

/**
 * Cursors of connections: those of REST lists, but identified by the order alone, because connections may be
 * nested.
 */

type Ordered = { readonly column: string };

const identityOf = (table: string, { column }: Ordered): string => listIdentity({ table, column });

/** A row is the position itself, for pages on either side of it. */
export const cursorOf = (
  table: string,
  order: Ordered,
  row: { readonly atMs: number; readonly id: number },
): string => formatListCursor(identityOf(table, order), { ...row, side: 'after' });

export const rowPositionOf = (
  table: string,
  order: Ordered,
  cursor: unknown,
): { readonly at: string; readonly id: number } => {
  const { atMs, id } = orOutOfPlan(() => parseListCursor(identityOf(table, order), String(cursor)));
  return { at: new Date(atMs).toISOString(), id };
};

const orOutOfPlan = <Value>(read: () => Value): Value => {
  try {
    return read();
  } catch (error) {
    throw new OutOfPlan('a cursor of something else', { cause: error });
  }
};

/** By an instant and, for equal ones, by id. PostgreSQL computes the same cursors as `cursorOf`. */
export const instantOrder = (table: string, column: string, descending: boolean): Order => ({
  descending,
  columns: [
    { name: column, type: 'timestamptz' },
    { name: 'id', type: 'bigint' },
  ],
  positionOf(cursor) {
    const { at, id } = rowPositionOf(table, { column }, cursor);
    return [at, id];
  },
  cursorJson(row) {
    const ms = sql`floor(extract(epoch from ${row}.${Sql.identifier(column)}) * 1000)::bigint`;
    return opaque([`["${identityOf(table, { column })}",`, ms, ',', sql`${row}.id`, ',"after"]']);
  },
});

const identityOfItems = ({ kind, list, order: [first] }: ItemSource): string =>
  identityOf(itemType(kind, list), { column: first?.name ?? '' });

export const itemCursorOf = (items: ItemSource, gap: ItemGap): string =>
  formatItemCursor(identityOfItems(items), gap);

export const itemPositionOf = (items: ItemSource, cursor: unknown): ItemGap =>
  orOutOfPlan(() => parseItemCursor(identityOfItems(items), String(cursor), items));

/** The order of the items of a list. */
export const itemOrder = (items: ItemSource): Order => ({
  descending: items.descending,
  columns: items.order,
  positionOf: (cursor) => valuesOf(itemPositionOf(items, cursor)),
  cursorJson(row) {
    const members = items.order.flatMap(({ name, type }): readonly Piece[] => {
      const value = sql`${row}.${Sql.identifier(name)}`;
      return [',', type === 'text' ? textJson(value) : type === 'timestamptz' ? instantJson(value) : value];
    });
    return opaque([`["${identityOfItems(items)}"`, ...members, ']']);
  },
});

/** JSON in base64url. */
export const opaque = (pieces: readonly Piece[]): Sql =>
  sql`'"' || translate(encode(convert_to(${concatenated(pieces)}, 'UTF8'), 'base64'), ${literal('+/=\n')}, '-_') || '"'`;

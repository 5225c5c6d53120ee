import * as z from 'zod';
import { decodeCursor, listIdentity } from '../lists/cursor.ts';
import type { OrderColumn, ViewSource } from './source.ts';

/**
 * Places in lists of a view: the texts of a row in the columns of the order, as exact as the database has
 * them.
 */

/** Of connections, which have the same cursors whatever is asked for beside the order. */
export const cursorIdentity = ({ view }: ViewSource, sort: string): string =>
  listIdentity({ table: view.type, column: sort });

/** Opaque to clients; it is good for the one list that it is a place in. */
export const formatCursor = (identity: string, place: readonly string[]): string =>
  Buffer.from(JSON.stringify([identity, ...place])).toString('base64url');

/** Nothing if it is no place of this list. */
export const placeIn = (
  identity: string,
  text: string,
  order: readonly OrderColumn[],
): readonly string[] | undefined => {
  const result = z.tuple([z.literal(identity)], z.string()).safeParse(decodeCursor(text));
  const place = result.success ? (result.data.slice(1) as readonly string[]) : [];
  const isPlace =
    place.length === order.length && place.every((each, index) => isOfType(order[index]?.type ?? '', each));
  return isPlace ? place : undefined;
};

/** Whatever a client makes up, the database takes it. */
const isOfType = (type: string, text: string): boolean => {
  switch (type) {
    case 'bigint':
      return /^-?\d{1,18}$/.test(text);
    case 'numeric':
      return /^-?\d{1,40}$/.test(text);
    case 'timestamptz':
      return (
        /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::\d\d)?$/.test(text) &&
        !Number.isNaN(Date.parse(text))
      );
    case 'boolean':
      return text === 'true' || text === 'false';
    default:
      return text.isWellFormed() && !text.includes('\u0000');
  }
};

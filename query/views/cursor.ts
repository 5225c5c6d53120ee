import * as z from 'zod';
import { day } from '#kernel/base/values.ts';
import { decodeCursor, listIdentity } from '../lists/cursor.ts';
import type { OrderColumn, ViewSource } from './source.ts';

/**
 * Cursors in lists of a view: a row’s values in the columns of the order, as texts with the full precision of
 * the database.
 */

/** Identifies a list over GraphQL: cursors do not depend on anything but the order. */
export const cursorIdentity = ({ view }: ViewSource, sort: string): string =>
  listIdentity({ table: view.type, column: sort });

/** Opaque to clients, and valid for one list only. */
export const formatCursor = (identity: string, position: readonly string[]): string =>
  Buffer.from(JSON.stringify([identity, ...position])).toString('base64url');

/** Undefined if it is no cursor of this list. */
export const positionInCursor = (
  identity: string,
  text: string,
  order: readonly OrderColumn[],
): readonly string[] | undefined => {
  const result = z.tuple([z.literal(identity)], z.string()).safeParse(decodeCursor(text));
  const position = result.success ? (result.data.slice(1) as readonly string[]) : [];
  const isValid =
    position.length === order.length &&
    position.every((each, index) => isOfType(order[index]?.type ?? '', each));
  return isValid ? position : undefined;
};

const isDay = (text: string): boolean => day.safeParse(text).success;

/** Ensures that PostgreSQL accepts the value, whatever a client sends. */
const isOfType = (type: string, text: string): boolean => {
  switch (type) {
    case 'bigint':
      return /^-?\d{1,18}$/.test(text);
    case 'numeric':
      // An average has a fraction.
      return /^-?\d{1,40}(?:\.\d{1,40})?$/.test(text);
    case 'date':
      return isDay(text);
    case 'timestamptz':
      return (
        /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::\d\d)?$/.test(text) &&
        isDay(text.slice(0, 10)) &&
        !Number.isNaN(Date.parse(text))
      );
    case 'boolean':
      return text === 'true' || text === 'false';
    default:
      return text.isWellFormed() && !text.includes('\u0000');
  }
};

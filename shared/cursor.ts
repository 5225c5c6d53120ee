import type { LogIdentity, Position } from '#shared/brands.ts';

/**
 * A position in one log, as clients see it: opaque to them, the same in REST, GraphQL, SSE, webhooks and
 * Kafka.
 */
export type Cursor = string & { readonly __cursor: never };

/** A cursor is malformed, or belongs to another log. */
export class UnknownCursor extends Error {
  readonly code: 'unknown_cursor' | 'cursor_of_lost_history';

  constructor(message: string, code: UnknownCursor['code'] = 'unknown_cursor') {
    super(message);
    this.name = 'UnknownCursor';
    this.code = code;
  }
}

/** The form of a cursor, for checks before `parseCursor`. */
export const CURSOR_PATTERN = '^[0-9a-f]{8}-[0-9a-z]{1,11}$';
const CURSOR = /^([0-9a-f]{8})-([0-9a-z]{1,11})$/;
const RADIX = 36;

/** For texts that belong to no installation; `/openapi.json` shows the start of the own log in its place. */
export const EXAMPLE_CURSOR = '6f9619ff-1z4' as Cursor;

/** The first group of the log’s identity suffices to recognize a cursor of another log. */
const prefixOf = (identity: LogIdentity): string => identity.slice(0, 8);

export const formatCursor = (identity: LogIdentity, position: Position): Cursor =>
  `${prefixOf(identity)}-${position.toString(RADIX)}` as Cursor;

/** The log whose cursors are accepted, and its identities before it lost events. */
type Own = { readonly identity: LogIdentity; readonly lost?: readonly LogIdentity[] | undefined };

/** Like `parseCursor`; a cursor from before a loss of events has a code of its own. */
export const parseOwnCursor = ({ identity, lost = [] }: Own, text: string): Position => {
  if (lost.some((former) => former !== identity && text.startsWith(`${prefixOf(former)}-`)))
    throw new UnknownCursor('the log has lost events since this cursor was issued', 'cursor_of_lost_history');
  return parseCursor(identity, text);
};

export const parseCursor = (identity: LogIdentity, text: string): Position => {
  const [, log, digits] = CURSOR.exec(text) ?? [];
  if (log === undefined || digits === undefined) throw new UnknownCursor('this is not a cursor');
  if (log !== prefixOf(identity)) throw new UnknownCursor('this cursor belongs to another log');
  const position = Number.parseInt(digits, RADIX);
  if (!Number.isSafeInteger(position)) throw new UnknownCursor('this is not a cursor');
  return position as Position;
};

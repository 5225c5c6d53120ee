import type { EventId, LogIdentity, Position } from './brands.ts';

/**
 * A position in one log, and the event there, as clients see it: opaque to them, the same in REST, GraphQL,
 * SSE, webhooks and Kafka.
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

/** The form of a cursor, for checks before `parseCursor`. Earlier releases, and the start, name no event. */
export const CURSOR_PATTERN = '^[0-9a-f]{8}-[0-9a-z]{1,11}(?:-[0-9a-f]{8})?$';
const CURSOR = /^([0-9a-f]{8})-([0-9a-z]{1,11})(?:-([0-9a-f]{8}))?$/;
const RADIX = 36;

/** For texts that belong to no installation; `/openapi.json` shows the start of the own log in its place. */
export const EXAMPLE_CURSOR = '6f9619ff-1z4' as Cursor;

/** The first group of the log’s identity suffices to recognize a cursor of another log. */
const prefixOf = (identity: LogIdentity): string => identity.slice(0, 8);

/** Some bits of the event’s id. Its end is random in every version of UUIDs, and in ids made by hashes. */
const markOf = (event: EventId): string => event.slice(-8);

/** Names the event at the position, if it is known. For an installation, use `cursorOf`. */
export const formatCursor = (identity: LogIdentity, position: Position, event?: EventId): Cursor => {
  const place = `${prefixOf(identity)}-${position.toString(RADIX)}`;
  return (event === undefined ? place : `${place}-${markOf(event)}`) as Cursor;
};

/** The log whose cursors are accepted, and its identities before it lost events. */
type CursorLog = {
  readonly identity: LogIdentity;
  readonly lost?: readonly LogIdentity[] | undefined;
};

/** A position, and what its cursor says about the event there. */
export type CursorPoint = { readonly position: Position; isOf(event: EventId | undefined): boolean };

/** Like `parsePoint`; a cursor from before a loss of events has a code of its own. */
export const parseOwnPoint = ({ identity, lost = [] }: CursorLog, text: string): CursorPoint => {
  if (lost.some((former) => former !== identity && text.startsWith(`${prefixOf(former)}-`)))
    throw new UnknownCursor('the log has lost events since this cursor was issued', 'cursor_of_lost_history');
  return parsePoint(identity, text);
};

/** The position of a cursor that was issued by the log as it is now, such as that of a write just made. */
export const parseCursor = (identity: LogIdentity, text: string): Position =>
  parsePoint(identity, text).position;

const parsePoint = (identity: LogIdentity, text: string): CursorPoint => {
  const [, log, digits, mark] = CURSOR.exec(text) ?? [];
  if (log === undefined || digits === undefined) throw new UnknownCursor('this is not a cursor');
  if (log !== prefixOf(identity)) throw new UnknownCursor('this cursor belongs to another log');
  const position = Number.parseInt(digits, RADIX);
  if (!Number.isSafeInteger(position)) throw new UnknownCursor('this is not a cursor');
  return {
    position: position as Position,
    isOf: (event) => mark === undefined || (event !== undefined && markOf(event) === mark),
  };
};

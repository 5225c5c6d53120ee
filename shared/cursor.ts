import type { LogIdentity, Position } from '#shared/brands.ts';

/** A place in one log, as clients see it: opaque to them, the same in REST, GraphQL, SSE, webhooks and Kafka. */
export type Cursor = string & { readonly __cursor: never };

/** A cursor is malformed, or belongs to another log. */
export class UnknownCursor extends Error {
  readonly code = 'unknown_cursor';

  constructor(message: string) {
    super(message);
    this.name = 'UnknownCursor';
  }
}

/** How one is written, for those who check before it comes to `parseCursor`. */
export const CURSOR_PATTERN = '^[0-9a-f]{8}-[0-9a-z]{1,11}$';
const CURSOR = /^([0-9a-f]{8})-([0-9a-z]{1,11})$/;
const RADIX = 36;

/** The first group of the log's identity is enough to tell that a cursor is another log's. */
const prefixOf = (identity: LogIdentity): string => identity.slice(0, 8);

export const formatCursor = (identity: LogIdentity, position: Position): Cursor =>
  `${prefixOf(identity)}-${position.toString(RADIX)}` as Cursor;

export const parseCursor = (identity: LogIdentity, text: string): Position => {
  const [, log, digits] = CURSOR.exec(text) ?? [];
  if (log === undefined || digits === undefined) throw new UnknownCursor('this is no cursor');
  if (log !== prefixOf(identity)) throw new UnknownCursor('this cursor belongs to another log');
  const position = Number.parseInt(digits, RADIX);
  if (!Number.isSafeInteger(position)) throw new UnknownCursor('this is no cursor');
  return position as Position;
};

import type { EventId, Position } from '#kernel/base/brands.ts';
import {
  type Cursor,
  type CursorPoint,
  formatCursor,
  parseOwnPoint,
  UnknownCursor,
} from '#kernel/base/cursor.ts';
import { askAgain } from './ask-again.ts';
import type { EventLog } from './event-log.ts';

export type OwnLog = Pick<
  EventLog,
  'identity' | 'lost' | 'eventAt' | 'late' | 'remembered' | 'reportForeignCursor'
>;

/**
 * The position of a client’s cursor. Refuses a cursor of another log, and one whose event the log does not
 * have: after a loss of events another one may be at its position, and its holder would miss that.
 */
export const positionOfOwnCursor = async (eventLog: OwnLog, text: string): Promise<Position> => {
  const point = parseOwnPoint(eventLog, text);
  await demandEventOf(eventLog, point);
  return point.position;
};

/** An event that this process has seen needs no read. */
export const demandEventOf = async (eventLog: OwnLog, { position, isOf }: CursorPoint): Promise<void> => {
  if (isOf(undefined) || isOf(eventLog.remembered?.(position))) return;
  const found = await askAgain(
    () => eventLog.eventAt(position),
    eventLog.late,
    (id) => id !== undefined,
  );
  if (isOf(found)) return;
  eventLog.reportForeignCursor?.(position);
  throw new UnknownCursor('the log does not have the event of this cursor', 'cursor_of_lost_history');
};

/** A log whose cursors are written. */
export type NamingLog = Pick<EventLog, 'identity' | 'namesEvents'>;

/** The cursor of a position and its event. */
export const cursorOf = (
  { identity, namesEvents }: NamingLog,
  position: Position,
  event: EventId | undefined,
): Cursor => formatCursor(identity, position, namesEvents?.() === false ? undefined : event);

/** A log whose guard remembers the events that this process has seen lately. */
export type SeeingLog = NamingLog & Pick<EventLog, 'remembered'>;

/** The cursor of a position, with its event if this process has seen it lately. */
export const cursorAt = (log: SeeingLog, position: Position): Cursor =>
  cursorOf(log, position, log.remembered?.(position));

import type { Position } from '#kernel/base/brands.ts';
import { UnknownCursor } from '#kernel/base/cursor.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Pool } from '#shared/database/pool.ts';
import { migrateEventIndex } from '#shared/event-index/event-index.ts';
import { positionAt } from '#shared/event-index/position-at.ts';
import { headReaching } from '#shared/event-log/ask-again.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { positionOfOwnCursor } from '#shared/event-log/own-cursor.ts';

type Log = { readonly pool: Pool; readonly eventLog: EventLog };

const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/**
 * Parses the value of an option (a position, a time or a cursor) to a position. Refuses positions in the
 * future.
 */
export const positionOf = async (log: Log, text: string, option: string): Promise<Position> => {
  const position = await parse(log, text, option);
  const head = await headReaching(log.eventLog, position);
  if (position > head)
    throw new StartRefused(
      `${option}: position ${position} lies beyond the end of the event log at ${head}.`,
    );
  return position;
};

const parse = async (log: Log, text: string, option: string): Promise<Position> => {
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text) as Position;
  if (TIME.test(text) && !Number.isNaN(Date.parse(text))) {
    await migrateEventIndex(log.pool);
    return positionAt(log, new Date(text));
  }
  try {
    return await positionOfOwnCursor(log.eventLog, text);
  } catch (error) {
    if (!(error instanceof UnknownCursor)) throw error;
    throw new StartRefused(
      `${option} must be a position of this log, a time such as 2026-01-02T03:04:05Z, or a cursor, but is “${text}”: ${error.message}.`,
    );
  }
};

import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import { positionHere } from '#kernel/base/events/log-positions.ts';
import { START } from '#shared/event-log/event-log.ts';

/** The columns of a webhook that say what it has missed. */
type Missed = { readonly missed_log: LogIdentity | null; readonly missed_since: Position | null };

/**
 * The beginning, if it was recorded with the log that ours is a copy of: no more is known, and nothing may be
 * lost.
 */
export const missedSince = ({ missed_log, missed_since }: Missed, log: LogIdentity) =>
  missed_since === null
    ? null
    : formatCursor(log, positionHere({ log: missed_log, position: missed_since }, { log, elsewhere: START }));

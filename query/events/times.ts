import { type AuditedLog, positionAt } from '#shared/audit/position-at.ts';
import type { Position } from '#shared/brands.ts';

/** Times as places in the log. */
export type Times = {
  /** The place, or the one before the first event that was made at a time or later, whichever is further on. */
  further(place: Position, since: string | undefined): Promise<Position>;
  /** The place before the first event that was made later. */
  end(until: string): Promise<Position>;
};

export const createTimes = (log: AuditedLog): Times => ({
  async further(place, since) {
    if (since === undefined) return place;
    // Events know of nothing shorter than a millisecond.
    const before = await positionAt(log, new Date(Math.ceil(Date.parse(since)) - 1));
    return before > place ? before : place;
  },
  end: (until) => positionAt(log, new Date(until)),
});

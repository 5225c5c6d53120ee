import type { AuditedLog } from '#shared/audit/position-at.ts';
import type { Position } from '#shared/brands.ts';
import { findTime } from '../as-of/find-time.ts';
import type { Charge } from '../as-of/meter.ts';

/** Times as places in the log. What is read to find them is charged. */
export type Times = {
  /**
   * The place, or the one before the first event that was made at a time or later, whichever is further on.
   */
  further(place: Position, since: string | undefined, charge: Charge): Promise<Position>;
  /** The place before the first event that was made later. */
  end(until: string, charge: Charge): Promise<Position>;
};

export const createTimes = (log: AuditedLog): Times => ({
  async further(place, since, charge) {
    if (since === undefined) return place;
    // Events know of nothing shorter than a millisecond.
    const before = await findTime(log, new Date(Math.ceil(Date.parse(since)) - 1), charge);
    return before > place ? before : place;
  },
  end: (until, charge) => findTime(log, new Date(until), charge),
});

import type { AuditedLog } from '#shared/audit/position-at.ts';
import type { Position } from '#shared/brands.ts';
import { findTime } from '../as-of/find-time.ts';
import type { Charge } from '../as-of/meter.ts';

/** Converts times to positions in the log. Reading for it is charged. */
export type Times = {
  /** The later of `place` and the position before the first event at or after `since`. */
  further(place: Position, since: string | undefined, charge: Charge): Promise<Position>;
  /** The position before the first event after `until`. */
  end(until: string, charge: Charge): Promise<Position>;
};

export const createTimes = (log: AuditedLog): Times => ({
  async further(place, since, charge) {
    if (since === undefined) return place;
    // Event times have millisecond precision.
    const before = await findTime(log, new Date(Math.ceil(Date.parse(since)) - 1), charge);
    return before > place ? before : place;
  },
  end: (until, charge) => findTime(log, new Date(until), charge),
});

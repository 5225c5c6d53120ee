import type { Position } from '#kernel/base/brands.ts';
import type { IndexedLog } from '#shared/event-index/position-at.ts';
import type { Charge } from '../rest/meter.ts';
import { findTime } from '../time-travel/find-time.ts';

/** Converts times to positions in the log. Reading for it is charged. */
export type Times = {
  /** The later of `position` and the position before the first event at or after `since`. */
  further(position: Position, since: string | undefined, charge: Charge): Promise<Position>;
  /** The position before the first event after `until`. */
  end(until: string, charge: Charge): Promise<Position>;
};

export const createTimes = (log: IndexedLog): Times => ({
  async further(position, since, charge) {
    if (since === undefined) return position;
    // Event times have millisecond precision.
    const before = await findTime(log, new Date(Math.ceil(Date.parse(since)) - 1), charge);
    return before > position ? before : position;
  },
  end: (until, charge) => findTime(log, new Date(until), charge),
});

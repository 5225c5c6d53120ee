import type { Position } from '#kernel/base/brands.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';

/** The maximum time to wait for the log’s next event. */
const NEXT_MS = 5_000;

/** The age in the log of the first event after a position; null if it does not arrive in time. */
export const lagSecondsAt = async (
  eventLog: Pick<EventLog, 'follow'>,
  position: Position,
): Promise<number | null> => {
  for await (const [oldest] of eventLog.follow(position, AbortSignal.timeout(NEXT_MS))) {
    // The log dates its events by the real time of its server, and the two clocks may differ a little.
    if (oldest) return Math.max(REAL_TIME.nowMs() - oldest.recordedAt.getTime(), 0) / 1_000;
  }
  return null;
};

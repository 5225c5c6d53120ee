import type { Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { timeOf } from '#shared/event-log/time-of.ts';

type OnRead = (events: readonly RecordedEvent[]) => Promise<void>;

export type IndexedLog = { readonly pool: Pool; readonly eventLog: Pick<EventLog, 'follow' | 'head'> };

/**
 * The position of the log at a time: that of the event before the first one whose change was made later, and
 * `START` if that is the first of all. The same for every caller. Changes are not quite in the order of their
 * times, because several processes decide them: a change made at the time or before may be left out, but
 * never is a later one included. Uses the moments of the index, and reads everything after the index, however
 * much that is: `onRead` gets each page, and may stop the read by throwing.
 */
export const positionAt = async (
  { pool, eventLog }: IndexedLog,
  time: Date,
  onRead: OnRead = async () => {},
): Promise<Position> => {
  const after = await positionBefore(pool, time);
  const upTo = await eventLog.head();
  let position = after;
  for await (const events of readBetween(eventLog, { after, upTo })) {
    await onRead(events);
    for (const event of events) {
      const at = timeOf(event);
      if (at !== null && at > time) return position;
      position = event.position;
    }
  }
  return position;
};

/**
 * The last moment without later events up to it: the searched event is before the next moment, or after the
 * index.
 */
const positionBefore = async (pool: Pool, time: Date): Promise<Position> => {
  const { rows } = await pool.query<{ position: Position }>(
    `select position from event_index.moment
     where position < coalesce((select position from event_index.moment where latest_at > $1 order by latest_at, position limit 1), 9223372036854775807)
     order by position desc limit 1`,
    [time],
  );
  return rows[0]?.position ?? START;
};

import type { Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';

type OnRead = (events: readonly RecordedEvent[]) => Promise<void>;

export type AuditedLog = { readonly pool: Pool; readonly eventLog: Pick<EventLog, 'follow' | 'head'> };

/**
 * The position of the log at a time: that of the event before the first one whose change was made later, and
 * `START` if that is the first of all. The same for every caller. Changes are not quite in the order of their
 * times, because several processes decide them: a change made at the time or before may be left out, but
 * never is a later one included. Uses the blocks of the chain, and reads everything after the chain, however
 * much that is: `onRead` gets each page, and may stop the read by throwing.
 */
export const positionAt = async (
  { pool, eventLog }: AuditedLog,
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

/** When the change was made, by the event itself; null if it states no time, or is damaged. */
export const timeOf = ({ metadata }: Pick<RecordedEvent, 'metadata'>): Date | null => {
  if (typeof metadata?.at !== 'string') return null;
  const at = new Date(metadata.at);
  return Number.isNaN(at.getTime()) ? null : at;
};

/**
 * The end of the last block without later events in or before it: the searched event is in the next block or
 * after the chain.
 */
const positionBefore = async (pool: Pool, time: Date): Promise<Position> => {
  const { rows } = await pool.query<{ position: Position }>(
    `select last_position as position from audit.block
     where count < coalesce((select count from audit.block where latest_at > $1 order by latest_at, count limit 1), 9223372036854775807)
     order by count desc limit 1`,
    [time],
  );
  return rows[0]?.position ?? START;
};

import type { Position } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';

type OnRead = (events: readonly RecordedEvent[]) => Promise<void>;

export type AuditedLog = { readonly pool: Pool; readonly eventLog: Pick<EventLog, 'follow' | 'head'> };

/**
 * The position at which the log stood at a time: that of the event before the first one whose change was made
 * later, and `START` where that is the first of all. The same for everyone who is asked for a time. Changes
 * are not quite in the order of their times, because several processes decide them: then a change may be left
 * out that was made at the time or before, and never one taken in that was made after. Found by the blocks of
 * the chain; what the chain does not reach yet is read, however much that is: `onRead` is told of each page,
 * and may refuse to have more read.
 */
export const positionAt = async (
  { pool, eventLog }: AuditedLog,
  time: Date,
  onRead: OnRead = async () => {},
): Promise<Position> => {
  const after = await positionBefore(pool, time);
  const upTo = await eventLog.head();
  let position = after;
  for await (const events of pagesBetween(eventLog, after, upTo)) {
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
 * When the change was made, as the event says; nothing where it says no time, or was damaged so that it says
 * nothing at all.
 */
export const timeOf = ({ metadata }: Pick<RecordedEvent, 'metadata'>): Date | null => {
  if (typeof metadata?.at !== 'string') return null;
  const at = new Date(metadata.at);
  return Number.isNaN(at.getTime()) ? null : at;
};

/**
 * The end of the last block in and before which nothing is later: what is searched comes after it, in the
 * next block or after the chain.
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

async function* pagesBetween(
  eventLog: AuditedLog['eventLog'],
  after: Position,
  upTo: Position,
): AsyncGenerator<readonly RecordedEvent[]> {
  if (after >= upTo) return;
  const leaving = new AbortController();
  try {
    for await (const events of eventLog.follow(after, leaving.signal)) {
      yield events.filter(({ position }) => position <= upTo);
      if ((events.at(-1)?.position ?? after) >= upTo) return;
    }
  } finally {
    leaving.abort();
  }
}

import type { Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { columnsOf } from './event-index.ts';

/** Corrects the entries of events that did not count when they were indexed. */
export const indexAgain = async (
  pool: Pick<Pool, 'query'>,
  events: readonly RecordedEvent[],
): Promise<void> => {
  await pool.query(
    `update event_index.event e set type = n.type, actor = n.actor, client = n.client, correlation = n.correlation
     from unnest($1::bigint[], $2::uuid[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::text[])
       as n (position, id, stream, version, type, actor, client, correlation)
     where e.position = n.position and e.id = n.id`,
    columnsOf(events),
  );
};

/** The events with this type in the index, in order, and the position of the event before them. */
export const indexedAs = async (
  pool: Pick<Pool, 'query'>,
  type: string,
): Promise<{ readonly after: Position; readonly positions: readonly Position[] }> => {
  const { rows } = await pool.query<{ position: Position }>(
    'select position from event_index.event where type = $1 order by position',
    [type],
  );
  const before = await pool.query<{ after: Position | null }>(
    'select max(position) as after from event_index.event where position < $1',
    [rows[0]?.position ?? START],
  );
  return { after: before.rows[0]?.after ?? START, positions: rows.map(({ position }) => position) };
};

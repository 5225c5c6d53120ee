import type { RecordedEvent } from '../event-log.ts';
import { type Reading, type Row, toEvent } from './read.ts';

const READ_BEFORE_START = {
  name: 'event-log-read-before-start',
  rowMode: 'array' as const,
  text: `select position, stream, version, id, type, data::text, metadata::text, recorded_at, bytes, encode(mac, 'hex')
    from event_log.event where position < 1 order by position limit 100`,
};

export const readBeforeStart = async ({ pool, authentic }: Reading): Promise<readonly RecordedEvent[]> => {
  const { rows } = await pool.query<Row>(READ_BEFORE_START);
  return rows.map((row) => toEvent(row, authentic));
};

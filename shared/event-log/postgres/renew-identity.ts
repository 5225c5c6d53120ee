import type { LogIdentity } from '#kernel/base/brands.ts';
import type { Connection } from '#shared/database/pool.ts';

/**
 * From the commit on, the log is a different one for all cursors and checkpoints; no process may be using it
 * meanwhile.
 */
export const renewIdentity = async (connection: Pick<Connection, 'query'>): Promise<LogIdentity> => {
  await connection.query(
    'insert into event_log.lost_history (log) select id from event_log.identity on conflict do nothing',
  );
  const { rows } = await connection.query<{ id: LogIdentity }>(
    'update event_log.identity set id = gen_random_uuid() returning id',
  );
  const [row] = rows;
  if (!row) throw new Error('event_log.identity is empty: this database is not an event log, or is damaged');
  return row.id;
};

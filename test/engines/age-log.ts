import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';

/** Makes all events older by `minutes`. */
export const ageLog = (pool: Pool, minutes: number): Promise<void> =>
  inTransaction(pool, async (connection) => {
    await connection.query('alter table event_log.event disable trigger append_only');
    await connection.query(
      `update event_log.event set recorded_at = recorded_at - $1 * interval '1 minute'`,
      [minutes],
    );
    await connection.query('alter table event_log.event enable trigger append_only');
  });

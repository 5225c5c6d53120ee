import type { Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';

/** Removes the end of the log, like a failover to a standby that had not received it. */
export const cutLog = (pool: Pool, keptUpTo: Position): Promise<void> =>
  inTransaction(pool, async (connection) => {
    await connection.query('alter table event_log.event disable trigger append_only');
    await connection.query('delete from event_log.event where position > $1', [keptUpTo]);
    await connection.query('alter table event_log.event enable trigger append_only');
  });

import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

/** Creates the tables of the log of reads; every reader and writer of it calls this first. */
export const migrateReadLog = (pool: Pool): Promise<void> =>
  migrate(pool, 'read-log', new URL('./migrations/', import.meta.url));

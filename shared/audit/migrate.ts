import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

/** Updates the tables of the proof; every reader and writer calls it first. */
export const migrateAudit = (pool: Pool): Promise<void> =>
  migrate(pool, 'audit', new URL('./migrations/', import.meta.url));

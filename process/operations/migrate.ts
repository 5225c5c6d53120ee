import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

/** Updates the tables of operator commands and samples; every reader and writer calls it first. */
export const migrateOperations = (pool: Pool): Promise<void> =>
  migrate(pool, 'operations', new URL('./migrations/', import.meta.url));

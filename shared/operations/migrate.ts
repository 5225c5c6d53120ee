import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

/** Brings what operators see and ask for up to date; everyone who reads or writes it asks for it first. */
export const migrateOperations = (pool: Pool): Promise<void> =>
  migrate(pool, 'operations', new URL('./migrations/', import.meta.url));

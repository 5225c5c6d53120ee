import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

/** Brings the tables of the proof up to date; everyone who reads or writes them asks for it first. */
export const migrateAudit = (pool: Pool): Promise<void> =>
  migrate(pool, 'audit', new URL('./migrations/', import.meta.url));

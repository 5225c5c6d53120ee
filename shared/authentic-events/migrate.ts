import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

/** A restored dump of an earlier release lacks the table; commands that write to it call this first. */
export const migrateAuthenticEvents = (pool: Pool): Promise<void> =>
  migrate(pool, 'authentic-events', new URL('./', import.meta.url));

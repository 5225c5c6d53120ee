import { migrateLeases } from '#shared/database/lease/lease.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

export const migrateLedger = async (pool: Pool): Promise<void> => {
  await migrateLeases(pool);
  await migrate(pool, 'webhook_ledger', new URL('./', import.meta.url));
};

import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import { migrateFollowers } from '#shared/follower/checkpoint.ts';

/**
 * Migrates the tables that outlive versions of the read model, and the checkpoints, which a rebuild moves
 * too.
 */
export const migrateProjector = async (pool: Pool): Promise<void> => {
  await migrateFollowers(pool);
  await migrate(pool, 'projector', new URL('./migrations/', import.meta.url));
};

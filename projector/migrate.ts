import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

/** Brings up to date what outlives every version of the read model. */
export const migrateProjector = (pool: Pool): Promise<void> => migrate(pool, 'projector', new URL('./migrations/', import.meta.url));

import type { StreamName } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { parked } from '#shared/rest/reads/parked.ts';
import { runPrepared } from './statement.ts';

/**
 * What has no row may be there all the same, but stand still until an operator has looked at it: then it
 * cannot be said to be absent.
 */
export const refuseParked = async (pool: Pool, stream: StreamName): Promise<void> => {
  const found = await runPrepared(pool, 'select 1 from read_model.parked where stream = $1', [stream]);
  if (found.length > 0) throw parked();
};

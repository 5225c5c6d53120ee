import { parked } from '#edge/http/parked.ts';
import type { StreamName } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { runPrepared } from './statement.ts';

/**
 * A missing row may belong to a parked aggregate, which exists. It must not answer 404 before an operator has
 * looked at it.
 */
export const refuseParked = async (pool: Pool, stream: StreamName): Promise<void> => {
  const found = await runPrepared(pool, 'select 1 from read_model.parked where stream = $1', [stream]);
  if (found.length > 0) throw parked();
};

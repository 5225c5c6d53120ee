import type { StreamName } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { runPrepared } from './statement.ts';

const RETRY_AFTER_SECONDS = '60';

/** What has no row may be there all the same, but stand still until an operator has looked at it: then it cannot be said to be absent. */
export const refuseParked = async (pool: Pool, stream: StreamName): Promise<void> => {
  const parked = await runPrepared(pool, 'select 1 from read_model.parked where stream = $1', [stream]);
  if (parked.length > 0) throw new HttpProblem('parked', { headers: { 'Retry-After': RETRY_AFTER_SECONDS } });
};

import type { StreamName } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';

/** Whether what a change happened to is parked now, or what that belongs to: then nobody can read it until an operator has looked at it. */
export type StandsStill = (change: Change) => Promise<boolean>;

export const createStandsStill =
  (pool: Pick<Pool, 'query'>): StandsStill =>
  async ({ stream, data: { articleId } }) => {
    const streams: readonly StreamName[] = typeof articleId === 'number' ? [stream, `article-${articleId}` as StreamName] : [stream];
    const { rowCount } = await pool.query(`select from ${LIVE_SCHEMA}.parked where stream = any($1)`, [streams]);
    return rowCount !== 0;
  };

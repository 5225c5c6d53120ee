import type { UserId } from '#kernel/base/brands.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';

/**
 * The number of rows with remaining data. If its table does not exist, the role never ran and left nothing.
 */
export const countOf = async (pool: Pool, text: string, userId: UserId): Promise<number> => {
  try {
    const { rows } = await pool.query<{ count: number }>(text, [userId]);
    return Number(rows[0]?.count ?? 0);
  } catch (error) {
    if (isUndefinedTable(error)) return 0;
    throw error;
  }
};

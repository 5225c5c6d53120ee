import type { Pool } from '#shared/database/pool.ts';

const COUNTED_MAX = 100_000;

export const countDue = async (pool: Pool): Promise<number> => {
  const { rows } = await pool.query<{ due: number }>(
    `select count(*) as due from (select from webhook_ledger.delivery where state = 'due' limit ${COUNTED_MAX}) counted`,
  );
  return rows[0]?.due ?? 0;
};

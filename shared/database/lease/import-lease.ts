import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Pool } from '../pool.ts';
import { isHeld } from './lease.ts';

/** Held by an import of history while it runs. */
export const IMPORT_LEASE = 'import';

/** Refuses the start beside an import: it decides on states in memory, and its times would come after later ones. */
export const demandNoImport = async (pool: Pick<Pool, 'query'>): Promise<void> => {
  const { rows } = await pool.query<{ isThere: boolean }>(
    `select to_regclass('public.lease') is not null as "isThere"`,
  );
  if (!rows[0]?.isThere) return;
  const { rowCount } = await pool.query(`select from public.lease where name = $1 and ${isHeld('lease')}`, [
    IMPORT_LEASE,
  ]);
  if (rowCount !== 0)
    throw new StartRefused(
      'An import of history runs: start Annals when it has ended. If its process was killed, wait ten seconds.',
    );
};

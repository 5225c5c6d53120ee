import type { Clock } from '#shared/clock/clock.ts';
import { repeat } from '#shared/clock/repeat.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';

/** The maximum of entries that one statement removes: nothing is appended meanwhile. */
const BATCH_MAX = 2_000;
const EVERY_MS = 3_600_000;
const REST_MS = 200;
const DAY_MS = 86_400_000;

type Expiring = { readonly pool: Pool; readonly clock: Clock; readonly log: Log; readonly keepDays: number };

/** Periodically removes entries from before the retention period. Several processes may do it concurrently. */
export const startExpiring = ({ pool, clock, log, keepDays }: Expiring): AsyncDisposable =>
  repeat({
    async work(signal) {
      const before = new Date(clock.nowMs() - keepDays * DAY_MS);
      while (!signal.aborted && (await expire(pool, before)) === BATCH_MAX)
        await clock.sleep(REST_MS, signal);
    },
    wait: (signal) => clock.sleep(EVERY_MS, signal),
    onFailure: (err) =>
      log.warn({ err }, 'Old entries of the log of reads could not be removed; this is retried.'),
  });

/** Returns how many were removed. */
export const expire = async (pool: Pool, before: Date): Promise<number> => {
  const { rows } = await pool.query<{ readonly count: number }>('select read_log.expire($1, $2) as count', [
    before,
    BATCH_MAX,
  ]);
  return rows[0]?.count ?? 0;
};

import type { Clock } from '#shared/clock/clock.ts';
import { repeat } from '#shared/clock/repeat.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import type { Queryable } from './statements.ts';

const TABLES = [
  'auth.record',
  'auth.device_poll',
  'auth.used_once',
  'auth.pending_sign_up',
  'auth.address_mail',
  'auth.keyed_write',
  'auth.agent',
  'auth.agent_token',
  'auth.signature',
] as const;
/** Keeps expired records for a while, so that somebody who presents one learns that it expired. */
const KEPT_S = 3_600;
const BATCH_MAX = 1_000;
const BATCHES_MAX = 100;
const PAUSE_MS = 60_000;

/** Removes expired rows, in batches too small to delay others; returns how many there were. */
export const cleanUp = async (database: Queryable, batchMax: number = BATCH_MAX): Promise<number> => {
  let removed = 0;
  for (const table of TABLES) {
    for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
      const count = await deleteExpired(database, table, batchMax);
      removed += count;
      if (count < batchMax) break;
    }
  }
  return removed;
};

/** Skips rows that another process is removing. */
const deleteExpired = async (
  database: Queryable,
  table: (typeof TABLES)[number],
  batchMax: number,
): Promise<number> => {
  const { rowCount } = await database.query(
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where expires_at < now() - $1 * interval '1 second' limit $2 for update skip locked))`,
    [KEPT_S, batchMax],
  );
  return rowCount ?? 0;
};

export const startCleanUp = ({ pool, log, clock }: { pool: Pool; log: Log; clock: Clock }): AsyncDisposable =>
  repeat({
    work: () => cleanUp(pool),
    wait: (signal) => clock.sleep(PAUSE_MS, signal),
    onFailure: (err) => log.warn({ err }, 'Expired rows of the authorization server could not be removed.'),
  });

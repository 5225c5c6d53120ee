import { createHmac } from 'node:crypto';
import type { Pool } from '#shared/database/pool.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';

/**
 * A burst, and then one attempt per interval (GCRA), counted in PostgreSQL for all processes together. Unlike
 * the rate limits of requests, it does not go on without its engine, and an attempt can be given back.
 */
export type Allowance = { readonly name: string; readonly burst: number; readonly intervalMs: number };

export type Attempts = {
  /** Takes one before the attempt is made, so that parallel attempts cannot evade the limit. */
  take(allowance: Allowance, subject: string): Promise<Taken>;
  /** Gives one back after an attempt that did no harm. */
  giveBack(allowance: Allowance, subject: string): Promise<void>;
  forget(allowance: Allowance, subject: string): Promise<void>;
};

type Taken =
  | { readonly granted: true; readonly isLast: boolean }
  | { readonly granted: false; readonly waitMs: number };

const OVER_AT_ONCE = 50;

export const createAttempts = ({ pool, masterKey }: { pool: Pool; masterKey: MasterKey }): Attempts => {
  const key = deriveKey(masterKey, 'attempt-key');
  const keyOf = ({ name }: Allowance, subject: string): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([name, subject]))
      .digest('base64url');
  return {
    async take(allowance, subject) {
      await deleteOver(pool);
      return take(pool, keyOf(allowance, subject), allowance);
    },
    async giveBack(allowance, subject) {
      await pool.query(`update auth.attempt set tat = tat - $2 * interval '1 millisecond' where key = $1`, [
        keyOf(allowance, subject),
        allowance.intervalMs,
      ]);
    },
    async forget(allowance, subject) {
      await pool.query('delete from auth.attempt where key = $1', [keyOf(allowance, subject)]);
    },
  };
};

const take = async (pool: Pool, key: string, { burst, intervalMs }: Allowance): Promise<Taken> => {
  const { rows } = await pool.query<{ leftMs: number }>(
    `insert into auth.attempt as held (key, tat) values ($1, clock_timestamp() + $2 * interval '1 millisecond')
     on conflict (key) do update set tat = greatest(held.tat, clock_timestamp()) + $2 * interval '1 millisecond'
       where held.tat + ($2 - $3) * interval '1 millisecond' <= clock_timestamp()
     returning $3 - extract(epoch from tat - clock_timestamp())::float8 * 1000 as "leftMs"`,
    [key, intervalMs, burst * intervalMs],
  );
  const taken = rows[0];
  return taken === undefined
    ? { granted: false, waitMs: await waitOf(pool, key, { burst, intervalMs }) }
    : { granted: true, isLast: taken.leftMs < intervalMs };
};

const waitOf = async (
  pool: Pool,
  key: string,
  { burst, intervalMs }: Omit<Allowance, 'name'>,
): Promise<number> => {
  // A time later than all attempts together allow was written before the database's clock was set back.
  await pool.query(
    `update auth.attempt set tat = clock_timestamp() + $2 * interval '1 millisecond'
     where key = $1 and tat > clock_timestamp() + $2 * interval '1 millisecond'`,
    [key, burst * intervalMs],
  );
  const { rows } = await pool.query<{ waitMs: number }>(
    `select extract(epoch from tat - clock_timestamp())::float8 * 1000 + $2 as "waitMs" from auth.attempt where key = $1`,
    [key, intervalMs - burst * intervalMs],
  );
  return Math.max(rows[0]?.waitMs ?? 0, 0);
};

/** An expired entry no longer counts. Each attempt deletes more entries than it can add. */
const deleteOver = async (pool: Pool): Promise<void> => {
  await pool.query(
    `delete from auth.attempt where key in (
       select key from auth.attempt where tat < clock_timestamp() order by tat limit $1 for update skip locked
     )`,
    [OVER_AT_ONCE],
  );
};

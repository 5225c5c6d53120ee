import type { Pool } from '#shared/database/pool.ts';

/** A head with the time at which it existed at the latest. */
export type StampedHead = {
  readonly size: number;
  readonly note: string;
  readonly isWitnessed: boolean;
  readonly token: Buffer;
  readonly at: Date;
};

const COLUMNS = 'size, note, is_witnessed as "isWitnessed", token, stamped_at as at';

export const readNewestStamp = async (pool: Pool, log: string): Promise<StampedHead | undefined> => {
  const { rows } = await pool.query<StampedHead>(
    `select ${COLUMNS} from audit.time_stamp where log = $1 order by size desc limit 1`,
    [log],
  );
  return rows[0];
};

/** The first stamped head that covers the event which `count` events end with: the earliest time for it. */
export const readFirstStampOver = async (
  pool: Pool,
  log: string,
  count: number,
): Promise<StampedHead | undefined> => {
  const { rows } = await pool.query<StampedHead>(
    `select ${COLUMNS} from audit.time_stamp where log = $1 and size >= $2 order by size limit 1`,
    [log, count],
  );
  return rows[0];
};

export const saveStamp = async (pool: Pool, log: string, stamped: StampedHead): Promise<void> => {
  const { size, note, isWitnessed, token, at } = stamped;
  await pool.query(
    `insert into audit.time_stamp (log, size, note, is_witnessed, token, stamped_at) values ($1, $2, $3, $4, $5, $6)
     on conflict do nothing`,
    [log, size, note, isWitnessed, token, at],
  );
};

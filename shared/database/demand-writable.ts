import { NotReady } from '#shared/not-ready.ts';
import { isDiskFull, isLimitOfTemporaryFiles } from './failures.ts';
import type { Pool } from './pool.ts';
import { inTransaction } from './transaction.ts';

/**
 * Throws if a server accepts no writes, though it may still answer reads: it is read-only, as a standby is,
 * or its disk is full.
 */
export const demandWritable = async (pool: Pool, name: string): Promise<void> => {
  const { rows } = await pool.query<{ isReadOnly: boolean }>(
    `select current_setting('transaction_read_only')::boolean as "isReadOnly"`,
  );
  if (rows[0]?.isReadOnly) throw new NotReady(`The ${name} is read-only.`);
  if (performance.now() < (roomUntilMs.get(pool) ?? 0)) return;
  await demandRoom(pool).catch((cause: unknown) => {
    if (isLimitOfTemporaryFiles(cause)) return;
    throw isDiskFull(cause) ? new NotReady(`The disk of the ${name} is full.`, { cause }) : cause;
  });
  roomUntilMs.set(pool, performance.now() + ROOM_LASTS_MS);
};

/** Testing for free space costs the server a file, and readiness is checked every few seconds. */
const ROOM_LASTS_MS = 30_000;
const roomUntilMs = new WeakMap<Pool, number>();

/**
 * Some 200 KiB: more than the least memory of a statement, so that the server writes them to a file, which it
 * then removes.
 */
const ROWS = 8_000;

/**
 * The file is on the disk of the database’s tables. Writing to a table of ours would leave dead rows with
 * every check.
 */
const demandRoom = (pool: Pool): Promise<void> =>
  inTransaction(
    pool,
    async (connection) => void (await connection.query(`select count(*) from generate_series(1, ${ROWS})`)),
    `set local work_mem = '64kB'; set local temp_tablespaces = ''`,
  );

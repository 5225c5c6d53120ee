import type { Pool } from './pool.ts';

/**
 * The connection has no other traffic, so keep-alives soon reveal that its process is gone, whatever lies in
 * between.
 */
const ALIVE_EVERY_MS = 3_000;
/** Several times as long, for a process that is busy. */
const GONE_AFTER_MS = 20_000;

/** The locked work may take hours. PostgreSQL has the setting from 17 on. */
const UNLIMITED = `select set_config(name, '0', true) from pg_settings where name = 'transaction_timeout'`;

/**
 * Takes an advisory lock, named by an expression of `$1`, and holds it until it is disposed of; undefined
 * while another process holds it. It belongs to a transaction, because a pooler may lend a session to others
 * in between. It ends with its connection, whatever ends that.
 */
export const holdLock = async (
  pool: Pool,
  lock: string,
  name: string,
): Promise<AsyncDisposable | undefined> => {
  const connection = await pool.connect();
  try {
    await connection.query(`begin;set local idle_in_transaction_session_timeout = ${GONE_AFTER_MS}`);
    await connection.query(UNLIMITED);
    const { rows } = await connection.query<{ isHeld: boolean }>(
      `select pg_try_advisory_xact_lock(${lock}) as "isHeld"`,
      [name],
    );
    if (!rows[0]?.isHeld) {
      connection.release(true);
      return undefined;
    }
  } catch (error) {
    connection.release(true);
    throw error;
  }
  const alive = setInterval(() => connection.query('select 1').catch(() => {}), ALIVE_EVERY_MS).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(alive);
      await connection.query('rollback').catch(() => {});
      connection.release(true);
    },
  };
};

import { isSilence } from './failures.ts';
import type { Connection, Pool } from './pool.ts';

/**
 * Does all of the work, or none of it if it throws. Sends settings with the beginning, which saves a round
 * trip.
 */
export const inTransaction = async <Result>(
  pool: Pool,
  work: (connection: Connection) => Promise<Result>,
  settings = '',
): Promise<Result> => {
  const connection = await pool.connect();
  let broken: Error | undefined;
  try {
    await connection.query(`begin;${settings}`);
    const result = await work(connection);
    demandCommitted(await connection.query('commit'));
    return result;
  } catch (error) {
    broken = await rollBack(connection, error);
    throw error;
  } finally {
    connection.release(broken);
  }
};

/** A statement that failed, and whose failure nobody has thrown, makes the server roll back instead. */
export const demandCommitted = (answer: { readonly command?: string } | undefined): void => {
  if (answer?.command !== 'COMMIT')
    throw new Error('The transaction was rolled back: one of its statements has failed.');
};

/** Returns why the connection is of no use to the next, if it could not roll back. */
export const rollBack = async (connection: Connection, cause: unknown): Promise<Error | undefined> => {
  // A rollback would wait for a silent server a second time.
  if (isSilence(cause)) return cause;
  try {
    await connection.query('rollback');
  } catch (error) {
    return error as Error;
  }
  return undefined;
};

import { isSilence } from './failures.ts';
import type { Connection, Pool } from './pool.ts';

/** Does all of the work or, where it throws, nothing of it. Settings are sent with the beginning, which saves a round trip. */
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
    await connection.query('commit');
    return result;
  } catch (error) {
    // A server that has fallen silent would be waited for a second time.
    if (isSilence(error)) broken = error;
    else
      await connection.query('rollback').catch((failure: Error) => {
        broken = failure;
      });
    throw error;
  } finally {
    // A connection that could not roll back is of no use to the next.
    connection.release(broken);
  }
};

import { isSilence } from './failures.ts';
import type { Connection, Pool } from './pool.ts';
import { type Answer, type Statement, sendTogether } from './together.ts';

/**
 * Does all of the work or, where it throws, nothing of it. Settings are sent with the beginning, which saves
 * a round trip.
 */
export const inTransaction = <Result>(
  pool: Pool,
  work: (connection: Connection) => Promise<Result>,
  settings = '',
): Promise<Result> => transact(pool, (connection) => connection.query(`begin;${settings}`), work);

/** The same; the first statements are sent with the beginning, and the work is given their answers. */
export const inTransactionAfter = <Result>(
  pool: Pool,
  first: readonly Statement[],
  work: (connection: Connection, answers: readonly Answer[]) => Promise<Result>,
): Promise<Result> =>
  transact(
    pool,
    (connection) => sendTogether(connection, [BEGIN, ...first]),
    (connection, [, ...answers]) => work(connection, answers),
  );

const BEGIN: Statement = { name: 'begin', text: 'begin' };

const transact = async <Begun, Result>(
  pool: Pool,
  begin: (connection: Connection) => Promise<Begun>,
  work: (connection: Connection, begun: Begun) => Promise<Result>,
): Promise<Result> => {
  const connection = await pool.connect();
  let broken: Error | undefined;
  try {
    const result = await work(connection, await begin(connection));
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

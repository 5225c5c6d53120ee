import { isSilence } from './failures.ts';
import { type Answer, type Statement, sendPipelined } from './pipeline.ts';
import type { Connection, Pool } from './pool.ts';

/**
 * Does all of the work, or none of it if it throws. Sends settings with the beginning, which saves a round
 * trip.
 */
export const inTransaction = <Result>(
  pool: Pool,
  work: (connection: Connection) => Promise<Result>,
  settings = '',
): Promise<Result> => transact(pool, (connection) => connection.query(`begin;${settings}`), work);

/** The same; sends the first statements with the beginning, and passes their results to the work. */
export const inTransactionAfter = <Result>(
  pool: Pool,
  first: readonly Statement[],
  work: (connection: Connection, answers: readonly Answer[]) => Promise<Result>,
): Promise<Result> =>
  transact(
    pool,
    (connection) => sendPipelined(connection, [BEGIN, ...first]),
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
    // A rollback would wait for a silent server a second time.
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

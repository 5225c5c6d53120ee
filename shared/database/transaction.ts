import { isSilence } from './failures.ts';
import type { Connection, Pool } from './pool.ts';

/**
 * Does all of the work, or none of it if it throws. Sends settings with the beginning, which saves a round
 * trip.
 */
export const inTransaction = <Result>(
  pool: Pool,
  work: (connection: Connection) => Promise<Result>,
  settings = '',
): Promise<Result> =>
  transact(pool, `begin;${settings}`, work, {
    commit: async (connection) => demandCommitted(await connection.query('commit')),
    rollback: 'rollback',
  });

/**
 * Does work whose statements are not ours: undoes all of it in the end, with the settings and locks that it
 * leaves in the session, which others use next.
 */
export const inTransactionUndone = <Result>(
  pool: Pool,
  work: (connection: Connection) => Promise<Result>,
  settings = '',
): Promise<Result> =>
  transact(pool, `begin;${settings}`, work, {
    commit: (connection) => connection.query(UNDO),
    rollback: UNDO,
  });

const UNDO = 'rollback; select pg_advisory_unlock_all()';

type End = {
  readonly commit: (connection: Connection) => Promise<unknown>;
  readonly rollback: string;
};

const transact = async <Result>(
  pool: Pool,
  begin: string,
  work: (connection: Connection) => Promise<Result>,
  { commit, rollback }: End,
): Promise<Result> => {
  const connection = await pool.connect();
  let broken: Error | undefined;
  try {
    await connection.query(begin);
    const result = await work(connection);
    await commit(connection);
    return result;
  } catch (error) {
    broken = await rollBack(connection, error, rollback);
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
export const rollBack = async (
  connection: Connection,
  cause: unknown,
  rollback = 'rollback',
): Promise<Error | undefined> => {
  // A rollback would wait for a silent server a second time.
  if (isSilence(cause)) return cause;
  try {
    await connection.query(rollback);
  } catch (error) {
    return error as Error;
  }
  return undefined;
};

import { openPool } from '#shared/database/pool.ts';

const HELD_MAX_MS = 120_000;

/** Blocks all readers of articles, with their connections, until the scope ends. */
export const lockArticles = async (databaseUrl: string): Promise<AsyncDisposable> => {
  const pool = openPool({
    url: databaseUrl,
    applicationName: 'test-lock',
    connectionsMax: 1,
    statementTimeoutMs: HELD_MAX_MS,
  });
  // An idle connection would be closed after a while.
  const connection = await pool.connect();
  await connection.query('begin; lock table read_model.articles in access exclusive mode');
  return {
    async [Symbol.asyncDispose]() {
      await connection.query('rollback');
      connection.release();
      await pool[Symbol.asyncDispose]();
    },
  };
};

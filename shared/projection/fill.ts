import type { StreamName } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { Stopped, type Work } from './catch-up.ts';
import { type Prepared, partOf } from './prepared.ts';
import { projectPrepared } from './project.ts';

/** The first statement of each transaction on a read model that is being filled: selects its tables. */
type Begin = (connection: Connection) => Promise<void>;

type Filling = { readonly pool: Pool; readonly tables: Tables };

/**
 * Each part in a transaction of its own, on a core of its own: an unfinished fill starts over, or is dropped.
 */
export const writeInParts = async (
  { pool, tables }: Filling,
  prepared: Prepared,
  begin: Begin,
): Promise<void> => {
  const write = (isIn: Parameters<typeof partOf>[1]) =>
    inBackground(pool, async (connection) => {
      await begin(connection);
      await projectPrepared(connection, tables, partOf(prepared, isIn));
    });
  // Rows with full-text search take longer to write than all others.
  const isSearched = ({ stream }: { readonly stream: StreamName }) =>
    tables.rowOf(stream)?.table.isSearched === true;
  const written = await Promise.allSettled([write(isSearched), write((event) => !isSearched(event))]);
  for (const outcome of written) if (outcome.status === 'rejected') throw outcome.reason;
};

/** No commit waits for the disk: the final swap does, for everything before it. */
export const inBackground = (
  pool: Pool,
  work: (connection: Connection) => Promise<unknown>,
): Promise<unknown> =>
  inTransaction(pool, async (connection) => {
    await connection.query('set local synchronous_commit = off');
    return work(connection);
  });

const INDEX_MEMORY = '128MB';

/** Also collects the planner’s statistics of the tables. */
export const addIndexes = async (work: Work, indexes: readonly string[], begin: Begin): Promise<void> => {
  const statements = [...indexes, `analyze ${work.tables.ofStreams.map(({ name }) => name).join(', ')}`];
  for (const [done, statement] of statements.entries()) {
    work.onProgress({ step: 'indexes', done, of: statements.length });
    await inBackground(work.pool, (connection) =>
      untilAborted(work, connection, async () => {
        await begin(connection);
        await connection.query(`set local maintenance_work_mem = '${INDEX_MEMORY}'`);
        await connection.query(statement);
      }),
    );
  }
};

type Stoppable = Pick<Work, 'pool' | 'signal'>;

/** Cancels a long statement on the server when the user aborts. */
export const untilAborted = async <Result>(
  { pool, signal }: Stoppable,
  connection: Connection,
  work: () => Promise<Result>,
): Promise<Result> => {
  const { rows } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid');
  const cancel = () => void pool.query('select pg_cancel_backend($1)', [rows[0]?.pid]).catch(() => {});
  if (signal.aborted) throw new Stopped();
  signal.addEventListener('abort', cancel);
  try {
    return await work();
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

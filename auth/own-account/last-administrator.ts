import type { CommandResult } from '#shared/command-gateway/command-gateway.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { deletePerson } from '../accounts/person-table.ts';
import type { Visitor } from './visitor.ts';

type Administrator = Pick<Visitor, 'userId' | 'role'>;
type Queryable = Pick<Pool, 'query'>;

/** Whether nobody who can sign in would be left to look after everything. Service accounts have no address, and sign in nowhere. */
export const isLastAdministrator = async (database: Queryable, { userId, role }: Administrator): Promise<boolean> => {
  if (role !== 'admin') return false;
  const { rowCount } = await database.query(
    `select from auth.person where role = 'admin' and status = 'active' and email_hash is not null and user_id <> $1 limit 1`,
    [userId],
  );
  return rowCount === 0;
};

/**
 * Deletes somebody, unless they are the last administrator. Of two who delete themselves at once, one is told to come again: a waiting one
 * would hold a connection that the other one needs. What makes an administrator something else meanwhile is not held up.
 */
export const unlessLastAdministrator = async (
  pool: Pool,
  administrator: Administrator,
  remove: () => Promise<CommandResult>,
): Promise<'deleted' | 'last' | 'busy'> => {
  if (administrator.role !== 'admin') {
    await remove();
    return 'deleted';
  }
  return inTransaction(pool, async (connection) => {
    const { rows } = await connection.query<{ isFree: boolean }>(
      `select pg_try_advisory_xact_lock(hashtextextended('auth.last-administrator', 0)) as "isFree"`,
    );
    if (!rows[0]?.isFree) return 'busy';
    if (await isLastAdministrator(connection, administrator)) return 'last';
    const { version } = await remove();
    // The directory does the same when it comes to it; the next administrator counts before that.
    await deletePerson(connection, administrator.userId, version);
    return 'deleted';
  });
};

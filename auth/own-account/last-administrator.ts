import type { Pool } from '#shared/database/pool.ts';
import type { Visitor } from './visitor.ts';

type Administrator = Pick<Visitor, 'userId' | 'role'>;
type Queryable = Pick<Pool, 'query'>;

/** Whether the command role will refuse to delete somebody, as far as it is known here. Service accounts have no address, and cannot sign in. */
export const isLastAdministrator = async (database: Queryable, { userId, role }: Administrator): Promise<boolean> => {
  if (role !== 'admin') return false;
  const { rowCount } = await database.query(
    `select from auth.person where role = 'admin' and status = 'active' and email_hash is not null and user_id <> $1 limit 1`,
    [userId],
  );
  return rowCount === 0;
};

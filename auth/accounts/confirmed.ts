import type { UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';

type Queryable = Pick<Pool, 'query'>;

/** Whether somebody has ever shown that they read mail to the address of the account. */
export const isConfirmed = async (database: Queryable, userId: UserId): Promise<boolean> => {
  const { rowCount } = await database.query('select from auth.person where user_id = $1 and confirmed_at is not null', [userId]);
  return rowCount === 1;
};

export const confirm = async (database: Queryable, userId: UserId): Promise<void> => {
  await database.query('update auth.person set confirmed_at = now() where user_id = $1 and confirmed_at is null', [userId]);
};

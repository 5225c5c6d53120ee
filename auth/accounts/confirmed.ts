import type { UserId } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Post } from '../mail/post.ts';

type Queryable = Pick<Pool, 'query'>;

/** Returns whether the owner of the account has ever shown that they read mail to its address. */
export const isConfirmed = async (database: Queryable, userId: UserId): Promise<boolean> => {
  const { rowCount } = await database.query(
    'select from auth.person where user_id = $1 and confirmed_at is not null',
    [userId],
  );
  return rowCount === 1;
};

export type ConfirmedDependencies = { readonly pool: Queryable; readonly post: Pick<Post, 'reachesPeople'> };

/**
 * Returns whether an account may get no other way in than its password for now, because whoever created it
 * may not own the address. If no mail reaches people, nobody can confirm, so it returns false.
 */
export const mustConfirm = async ({ pool, post }: ConfirmedDependencies, userId: UserId): Promise<boolean> =>
  post.reachesPeople && !(await isConfirmed(pool, userId));

/** The address that the mail went to. Nothing is confirmed if the account has another address by then. */
type ConfirmedAddress = { readonly userId: UserId; readonly emailHash: string };

export const confirm = async (
  database: Queryable,
  { userId, emailHash }: ConfirmedAddress,
): Promise<void> => {
  await database.query(
    'update auth.person set confirmed_at = now() where user_id = $1 and email_hash = $2 and confirmed_at is null',
    [userId, emailHash],
  );
};

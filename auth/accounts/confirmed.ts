import type { UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Post } from '../mail/post.ts';

type Queryable = Pick<Pool, 'query'>;

/** Whether somebody has ever shown that they read mail to the address of the account. */
export const isConfirmed = async (database: Queryable, userId: UserId): Promise<boolean> => {
  const { rowCount } = await database.query(
    'select from auth.person where user_id = $1 and confirmed_at is not null',
    [userId],
  );
  return rowCount === 1;
};

export type ConfirmedDependencies = { readonly pool: Queryable; readonly post: Pick<Post, 'reachesPeople'> };

/**
 * Whether an account gets no other way in than its password for now: whoever created it may not be the owner
 * of the address. Nobody can confirm an address if no mail reaches people, so nobody must.
 */
export const mustConfirm = async ({ pool, post }: ConfirmedDependencies, userId: UserId): Promise<boolean> =>
  post.reachesPeople && !(await isConfirmed(pool, userId));

/** The address that the mail went to: it does nothing where the account has another one meanwhile. */
export type ConfirmedAddress = { readonly userId: UserId; readonly emailHash: string };

export const confirm = async (
  database: Queryable,
  { userId, emailHash }: ConfirmedAddress,
): Promise<void> => {
  await database.query(
    'update auth.person set confirmed_at = now() where user_id = $1 and email_hash = $2 and confirmed_at is null',
    [userId, emailHash],
  );
};

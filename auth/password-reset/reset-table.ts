import type { UserId } from '#shared/brands.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

type Queryable = Pick<Pool, 'query'>;

export const migratePasswordResets = (pool: Pool): Promise<void> =>
  migrate(pool, 'auth-password-reset', new URL('./migrations/', import.meta.url));

type Reset = {
  readonly digest: Buffer;
  readonly userId: UserId;
  readonly lifetimeS: number;
  readonly isMailed: boolean;
};

export const insertReset = async (
  database: Queryable,
  { digest, userId, lifetimeS, isMailed }: Reset,
): Promise<void> => {
  await database.query('delete from auth.password_reset where expires_at < now()');
  await database.query(
    `insert into auth.password_reset (digest, user_id, expires_at, is_mailed) values ($1, $2, now() + $3 * interval '1 second', $4)`,
    [digest, userId, lifetimeS, isMailed],
  );
};

type Found = Pick<Reset, 'userId' | 'isMailed'>;

/** The person, as long as the link is valid. */
export const selectReset = async (database: Queryable, digest: Buffer): Promise<Found | undefined> => {
  const { rows } = await database.query<Found>(
    `select user_id as "userId", is_mailed as "isMailed" from auth.password_reset join auth.person using (user_id)
     where digest = $1 and expires_at > now() and status = 'active'`,
    [digest],
  );
  return rows[0];
};

/** Uses up the link and all others of the person. Of parallel callers, one gets the user id. */
export const takeReset = async (database: Queryable, digest: Buffer): Promise<UserId | undefined> => {
  const { rows } = await database.query<{ userId: UserId }>(
    'delete from auth.password_reset where digest = $1 and expires_at > now() returning user_id as "userId"',
    [digest],
  );
  const userId = rows[0]?.userId;
  if (userId !== undefined) await deleteResetsOf(database, userId);
  return userId;
};

export const deleteResetsOf = async (database: Queryable, userId: UserId): Promise<void> => {
  await database.query('delete from auth.password_reset where user_id = $1', [userId]);
};

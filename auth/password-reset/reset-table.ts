import type { UserId } from '#kernel/base/brands.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import {
  type GrantingTable,
  type Proven,
  provenColumns,
  type RowProofs,
} from '#shared/row-proofs/row-proofs.ts';

type Queryable = Pick<Pool, 'query'>;

export const migratePasswordResets = (pool: Pool): Promise<void> =>
  migrate(pool, 'auth-password-reset', new URL('./migrations/', import.meta.url));

/** For whom a link is, and how long. */
type Reset = {
  readonly digest: Buffer;
  readonly userId: UserId;
  readonly expiresAt: Date;
  readonly isMailed: boolean;
};

export const RESETS: GrantingTable<Reset> = {
  name: 'auth.password_reset',
  key: 'digest',
  keyType: 'bytea',
  columns: { digest: 'digest', userId: 'user_id', expiresAt: 'expires_at', isMailed: 'is_mailed' },
};

type Writing = { readonly database: Queryable; readonly rowProofs: Pick<RowProofs, 'of'> };

export const insertReset = async ({ database, rowProofs }: Writing, reset: Reset): Promise<void> => {
  const { digest, userId, expiresAt, isMailed } = reset;
  await database.query('delete from auth.password_reset where expires_at < now()');
  await database.query(
    'insert into auth.password_reset (digest, user_id, expires_at, is_mailed, proof) values ($1, $2, $3, $4, $5)',
    [digest, userId, expiresAt, isMailed, rowProofs.of(RESETS, reset)],
  );
};

type Checking = { readonly database: Queryable; readonly rowProofs: Pick<RowProofs, 'check'> };

/** The person, as long as the link is valid. */
export const selectReset = async (
  { database, rowProofs }: Checking,
  digest: Buffer,
): Promise<Reset | undefined> => {
  const { rows } = await database.query<Reset & Proven>(
    `select ${provenColumns(RESETS)} from auth.password_reset join auth.person using (user_id)
     where digest = $1 and expires_at > now() and status = 'active'`,
    [digest],
  );
  const [row] = rows;
  return row && (await rowProofs.check(RESETS, row)) ? row : undefined;
};

/** Uses up the link and all others of the person. Of parallel callers, one gets the user id. */
export const takeReset = async (
  { database, rowProofs }: Checking,
  digest: Buffer,
): Promise<UserId | undefined> => {
  const { rows } = await database.query<Reset & Proven>(
    `delete from auth.password_reset where digest = $1 and expires_at > now() returning ${provenColumns(RESETS)}`,
    [digest],
  );
  const [row] = rows;
  if (row === undefined || !(await rowProofs.check(RESETS, row))) return undefined;
  await deleteResetsOf(database, row.userId);
  return row.userId;
};

export const deleteResetsOf = async (database: Queryable, userId: UserId): Promise<void> => {
  await database.query('delete from auth.password_reset where user_id = $1', [userId]);
};

import type { UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';

type Queryable = Pick<Pool, 'query'>;

type Factor = { readonly sealed: Buffer; readonly madeAt: Date; readonly codesLeft: number };

export const selectFactor = async (database: Queryable, userId: UserId): Promise<Factor | undefined> => {
  const { rows } = await database.query<Factor>(
    `select sealed, made_at as "madeAt",
       (select count(*)::integer from auth.recovery_code where user_id = $1) as "codesLeft"
     from auth.second_factor where user_id = $1`,
    [userId],
  );
  return rows[0];
};

type NewFactor = { readonly userId: UserId; readonly sealed: Buffer; readonly step: number };

/** Answers false where there is one already, or the person was deleted. */
export const insertFactor = async (database: Queryable, { userId, sealed, step }: NewFactor): Promise<boolean> => {
  const { rowCount } = await database.query(
    `insert into auth.second_factor (user_id, sealed, last_step)
     select user_id, $2, $3 from auth.person where user_id = $1 and status = 'active' for share
     on conflict do nothing`,
    [userId, sealed, step],
  );
  return rowCount === 1;
};

/** Uses up the codes as far as this step; of many who have the same code, one does. */
export const takeStep = async (database: Queryable, userId: UserId, step: number): Promise<boolean> => {
  const { rowCount } = await database.query('update auth.second_factor set last_step = $2 where user_id = $1 and last_step < $2', [
    userId,
    step,
  ]);
  return rowCount === 1;
};

/** Answers how many are left; undefined where it was none. */
export const takeRecoveryCode = async (database: Queryable, userId: UserId, digest: Buffer): Promise<number | undefined> => {
  const { rowCount } = await database.query('delete from auth.recovery_code where user_id = $1 and digest = $2', [userId, digest]);
  if (rowCount !== 1) return undefined;
  const { rows } = await database.query<{ left: number }>('select count(*)::integer as left from auth.recovery_code where user_id = $1', [
    userId,
  ]);
  return rows[0]?.left ?? 0;
};

/** Those of before are good no more. Only who has a second factor has any: its row is locked, so that no two sets mix. */
export const replaceRecoveryCodes = async (database: Queryable, userId: UserId, digests: readonly Buffer[]): Promise<boolean> => {
  const { rowCount } = await database.query('select from auth.second_factor where user_id = $1 for update', [userId]);
  if (rowCount !== 1) return false;
  await database.query('delete from auth.recovery_code where user_id = $1', [userId]);
  await database.query('insert into auth.recovery_code (user_id, digest) select $1, unnest($2::bytea[])', [userId, digests]);
  return true;
};

/** Answers whether there was one. */
export const deleteFactor = async (database: Queryable, userId: UserId): Promise<boolean> => {
  const { rowCount } = await database.query('delete from auth.second_factor where user_id = $1', [userId]);
  await database.query('delete from auth.recovery_code where user_id = $1', [userId]);
  return rowCount === 1;
};

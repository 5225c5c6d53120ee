import type { UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';

type Queryable = Pick<Pool, 'query'>;

export type TokenRow = {
  readonly id: string;
  readonly userId: UserId;
  readonly sealed: Buffer;
  readonly scopes: readonly string[];
  readonly madeAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
};

type NewToken = Omit<TokenRow, 'madeAt' | 'usedAt'> & { readonly digest: Buffer };

/** Each has a rate limit of its own. */
export const TOKENS_MAX = 20;
/** An expired token is listed for so long, so that its owner sees why a script fails. */
const EXPIRED_KEPT = `interval '30 days'`;

const COLUMNS =
  'id, user_id as "userId", sealed, scopes, made_at as "madeAt", expires_at as "expiresAt", used_at as "usedAt"';

/** The newest first. */
export const selectTokensOf = async (database: Queryable, userId: UserId): Promise<readonly TokenRow[]> => {
  const { rows } = await database.query<TokenRow>(
    `select ${COLUMNS} from auth.personal_token
     where user_id = $1 and expires_at > now() - ${EXPIRED_KEPT} order by made_at desc, id`,
    [userId],
  );
  return rows;
};

/** In a transaction, for who has locked the person. Undefined if the person has too many, or was deleted. */
export const insertToken = async (database: Queryable, token: NewToken): Promise<TokenRow | undefined> => {
  const { id, userId, digest, sealed, scopes, expiresAt } = token;
  await database.query(
    `delete from auth.personal_token where user_id = $1 and expires_at <= now() - ${EXPIRED_KEPT}`,
    [userId],
  );
  const { rows } = await database.query<TokenRow>(
    `insert into auth.personal_token (id, user_id, digest, sealed, scopes, expires_at)
     select $1, user_id, $3, $4, $5, $6 from auth.person
     where user_id = $2 and status = 'active'
       and (select count(*) from auth.personal_token where user_id = $2 and expires_at > now()) < $7
     returning ${COLUMNS}`,
    [id, userId, digest, sealed, scopes, expiresAt, TOKENS_MAX],
  );
  return rows[0];
};

/** Answers which of those that are named there were; all, if none is named. */
export const deletePersonalTokensOf = async (
  database: Queryable,
  userId: number,
  ids?: readonly string[],
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ id: string }>(
    `delete from auth.personal_token where user_id = $1 and ($2::text[] is null or id = any ($2)) returning id`,
    [userId, ids ?? null],
  );
  return rows.map(({ id }) => id);
};

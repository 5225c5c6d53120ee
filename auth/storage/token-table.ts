import { type GrantingToken, PERSONAL_TOKENS } from '#edge/authenticate/personal-tokens.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type Proven, provenColumns } from '#shared/row-proofs/row-proofs.ts';

type Queryable = Pick<Pool, 'query'>;

export type TokenRow = GrantingToken &
  Proven & {
    readonly madeAt: Date;
    readonly usedAt: Date | null;
  };

type NewToken = GrantingToken & { readonly proof: Buffer };

/** Limited, because each token has a rate limit of its own. */
export const TOKENS_MAX = 20;
/** How long an expired token stays in the list, so that its owner sees why a script fails. */
const EXPIRED_KEPT = `interval '30 days'`;

const COLUMNS = `${provenColumns(PERSONAL_TOKENS)}, made_at as "madeAt", used_at as "usedAt"`;

export const selectTokensOf = async (database: Queryable, userId: UserId): Promise<readonly TokenRow[]> => {
  const { rows } = await database.query<TokenRow>(
    `select ${COLUMNS} from auth.personal_token
     where user_id = $1 and expires_at > now() - ${EXPIRED_KEPT} order by made_at desc, id`,
    [userId],
  );
  return rows;
};

/**
 * Runs in a transaction whose caller has locked the person. Undefined if the person has too many, or was
 * deleted.
 */
export const insertToken = async (database: Queryable, token: NewToken): Promise<TokenRow | undefined> => {
  const { id, userId, digest, sealed, scopes, expiresAt, proof } = token;
  await database.query(
    `delete from auth.personal_token where user_id = $1 and expires_at <= now() - ${EXPIRED_KEPT}`,
    [userId],
  );
  const { rows } = await database.query<TokenRow>(
    `insert into auth.personal_token (id, user_id, digest, sealed, scopes, expires_at, proof)
     select $1, person.user_id, $3, $4, $5, $6, $8 from auth.person
     where person.user_id = $2 and status = 'active'
       and (select count(*) from auth.personal_token where user_id = $2 and expires_at > now()) < $7
     returning ${COLUMNS}`,
    [id, userId, digest, sealed, scopes, expiresAt, TOKENS_MAX, proof],
  );
  return rows[0];
};

/** Returns those of the named tokens that there were; without names, all. */
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

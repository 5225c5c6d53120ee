import { migrate } from '#shared/database/migrate.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { LIFETIMES_S } from '../security/lifetimes.ts';

export type KeyRow = { readonly kid: string; readonly sealed: Buffer };

export const migrateSigningKeys = (pool: Pool): Promise<void> =>
  migrate(pool, 'auth-signing-keys', new URL('./migrations/', import.meta.url));

/** Twice the longest life of a signed token, to allow for clock skew and caches. */
const KEPT_S = 2 * Math.max(LIFETIMES_S.AccessToken, LIFETIMES_S.ClientCredentials, LIFETIMES_S.IdToken);
/** Nobody rotates this often within a token's life. */
const PUBLISHED_MAX = 20;

/**
 * By the database's clock, which all processes share. In order: the signer, which is the newest key past its
 * start; keys that will sign later; keys replaced a short while ago.
 */
export const selectPublishedKeys = async (pool: Pool): Promise<readonly KeyRow[]> => {
  const { rows } = await pool.query<KeyRow>(
    `select kid, sealed
     from (select kid, sealed, signs_from, lead(signs_from) over (order by signs_from) as followed_at from auth.signing_key) keys
     where followed_at is null or followed_at > clock_timestamp() - $1 * interval '1 second'
     order by signs_from <= clock_timestamp() and (followed_at is null or followed_at > clock_timestamp()) desc, signs_from desc
     limit $2`,
    [KEPT_S, PUBLISHED_MAX],
  );
  return rows;
};

/** Prevents other additions until the transaction ends; returns the number of keys. */
export const lockKeys = async (connection: Connection): Promise<number> => {
  await connection.query('lock table auth.signing_key in share row exclusive mode');
  const { rows } = await connection.query<{ count: number }>('select count(*) from auth.signing_key');
  return rows[0]?.count ?? 0;
};

/** Returns the time from which it signs: never before an earlier key. */
export const insertKey = async (
  connection: Connection,
  { kid, sealed }: KeyRow,
  overlapS: number,
): Promise<Date> => {
  const { rows } = await connection.query<{ signs_from: Date }>(
    `insert into auth.signing_key (kid, sealed, signs_from)
     select $1, $2, greatest(clock_timestamp() + $3 * interval '1 second', max(signs_from) + interval '1 millisecond') from auth.signing_key
     returning signs_from`,
    [kid, sealed, overlapS],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the key was not inserted');
  return row.signs_from;
};

import type { UserId } from '#shared/brands.ts';
import type { Connection } from '#shared/database/pool.ts';

type Queryable = Pick<Connection, 'query'>;

/** Keeps the password hash of a new sign-up; a repetition returns the first hash. */
export const beginSignUp = async (database: Queryable, id: string, phc: string): Promise<string> => {
  await database.query('insert into auth.sign_up (id, phc) values ($1, $2) on conflict do nothing', [
    id,
    phc,
  ]);
  const { rows } = await database.query<{ phc: string }>('select phc from auth.sign_up where id = $1', [id]);
  return rows[0]?.phc ?? phc;
};

/** Gives the password to the user that a sign-up has made. Idempotent. */
export const settleSignUp = async (database: Queryable, id: string, userId: UserId): Promise<void> => {
  await database.query(
    `insert into auth.credential (user_id, phc)
     select person.user_id, sign_up.phc from auth.sign_up, auth.person
     where sign_up.id = $1 and person.user_id = $2 and person.status = 'active'
     for share of person
     on conflict (user_id) do nothing`,
    [id, userId],
  );
};

export const abandonSignUp = async (database: Queryable, id: string): Promise<void> => {
  await database.query('delete from auth.sign_up where id = $1', [id]);
};

const KEPT_DAYS = 7;
const OVER_AT_ONCE = 100;

/** A form can be sent again for a day, and the directory may lag as much. */
export const deleteOldSignUps = async (database: Queryable): Promise<void> => {
  await database.query(
    `delete from auth.sign_up where id in (select id from auth.sign_up where begun_at < now() - $1 * interval '1 day' limit $2)`,
    [KEPT_DAYS, OVER_AT_ONCE],
  );
};

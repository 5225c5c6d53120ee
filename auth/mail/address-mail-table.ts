import type { UserId, Version } from '#shared/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';

/** One message about a change of a user, to the address of before or to the one of after. */
export type AddressMail = { readonly userId: UserId; readonly version: Version; readonly toldAt: 'former' | 'new' };

/** Longer than sending takes, and doubled by each attempt: whoever died while it sent is followed by another after it. */
const RETRY_S = 60;
const RETRY_MAX_S = 3_600;
/** How long it is tried; whether a change before that is worth a mail nobody knows. */
export const ADDRESS_MAIL_KEPT_S = 7 * 86_400;

/** In the caller's transaction. The same may be inserted again. */
export const insertAddressMail = async (connection: Connection, mail: readonly AddressMail[]): Promise<void> => {
  if (mail.length === 0) return;
  await connection.query(
    `insert into auth.address_mail (user_id, version, told_at, expires_at)
     select *, clock_timestamp() + $4 * interval '1 second' from unnest($1::bigint[], $2::integer[], $3::text[])
     on conflict do nothing`,
    [mail.map(({ userId }) => userId), mail.map(({ version }) => version), mail.map(({ toldAt }) => toldAt), ADDRESS_MAIL_KEPT_S],
  );
};

/** One that is due, which is nobody else's for a while; it is due again after that, unless it is deleted. */
export const takeAddressMail = async (pool: Pool): Promise<AddressMail | undefined> => {
  const { rows } = await pool.query<AddressMail>(
    `update auth.address_mail as mail
     set attempts = attempts + 1, due_at = clock_timestamp() + least($1 * 2.0 ^ least(attempts, 10), $2) * interval '1 second'
     from (
       select user_id, version, told_at from auth.address_mail
       -- The clock may have been set back since.
       where (due_at <= clock_timestamp() or due_at > clock_timestamp() + $2 * interval '1 second') and expires_at > clock_timestamp()
       order by due_at limit 1 for update skip locked
     ) as due
     where (mail.user_id, mail.version, mail.told_at) = (due.user_id, due.version, due.told_at)
     returning mail.user_id as "userId", mail.version, mail.told_at as "toldAt"`,
    [RETRY_S, RETRY_MAX_S],
  );
  return rows[0];
};

export const deleteAddressMail = async (pool: Pool, { userId, version, toldAt }: AddressMail): Promise<void> => {
  await pool.query(`delete from auth.address_mail where user_id = $1 and version = $2 and told_at = $3`, [userId, version, toldAt]);
};

import type { UserId } from '#kernel/base/brands.ts';
import type { Connection } from '#shared/database/pool.ts';
import {
  type GrantingTable,
  type Proven,
  provenColumns,
  type RowProofs,
} from '#shared/row-proofs/row-proofs.ts';
import { CREDENTIALS } from './credentials.ts';

type Queryable = Pick<Connection, 'query'>;

type SignUp = { readonly id: string; readonly phc: string };

export const SIGN_UPS: GrantingTable<SignUp> = {
  name: 'auth.sign_up',
  key: 'id',
  keyType: 'text',
  columns: { id: 'id', phc: 'phc' },
};

type Settling = { readonly database: Queryable; readonly rowProofs: Pick<RowProofs, 'of' | 'check'> };

/** Keeps the password hash of a new sign-up; a repetition leaves the first hash. */
export const beginSignUp = async ({ database, rowProofs }: Settling, signUp: SignUp): Promise<void> => {
  await database.query(
    'insert into auth.sign_up (id, phc, proof) values ($1, $2, $3) on conflict do nothing',
    [signUp.id, signUp.phc, rowProofs.of(SIGN_UPS, signUp)],
  );
};

/** Gives the password to the user that a sign-up has made. Idempotent. */
export const settleSignUp = async (
  { database, rowProofs }: Settling,
  id: string,
  userId: UserId,
): Promise<void> => {
  const { rows } = await database.query<SignUp & Proven>(
    `select ${provenColumns(SIGN_UPS)} from auth.sign_up where id = $1`,
    [id],
  );
  const [found] = rows;
  if (found === undefined || !(await rowProofs.check(SIGN_UPS, found))) return;
  const { phc } = found;
  await database.query(
    `insert into auth.credential (user_id, phc, proof)
     select user_id, $2, $3 from auth.person where user_id = $1 and status = 'active' for share
     on conflict (user_id) do nothing`,
    [userId, phc, rowProofs.of(CREDENTIALS, { userId, phc })],
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

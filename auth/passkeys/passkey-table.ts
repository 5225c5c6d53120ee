import type { UserId } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';

type Queryable = Pick<Pool, 'query'>;

export type PasskeyRow = {
  readonly id: string;
  readonly userId: UserId;
  readonly sealed: Buffer;
  readonly madeAt: Date;
  readonly usedAt: Date | null;
};

type NewPasskey = Pick<PasskeyRow, 'id' | 'userId' | 'sealed'> & {
  readonly credentialHash: Buffer;
  readonly counter: number;
};

/** More than anybody has authenticators. */
export const PASSKEYS_MAX = 20;

const COLUMNS = 'id, user_id as "userId", sealed, made_at as "madeAt", used_at as "usedAt"';

export const selectPasskeysOf = async (
  database: Queryable,
  userId: UserId,
): Promise<readonly PasskeyRow[]> => {
  const { rows } = await database.query<PasskeyRow>(
    `select ${COLUMNS} from auth.passkey where user_id = $1 order by made_at, id`,
    [userId],
  );
  return rows;
};

/** Only for a person who is not deleted. */
export const selectPasskeyByCredential = async (
  database: Queryable,
  credentialHash: Buffer,
): Promise<PasskeyRow | undefined> => {
  const { rows } = await database.query<PasskeyRow>(
    `select ${COLUMNS} from auth.passkey join auth.person using (user_id) where credential_hash = $1 and status = 'active' and deactivated_at is null`,
    [credentialHash],
  );
  return rows[0];
};

/**
 * Returns false if it is registered already, the person has too many, or was deleted. The caller has locked
 * the person.
 */
export const insertPasskey = async (database: Queryable, passkey: NewPasskey): Promise<boolean> => {
  const { id, userId, credentialHash, sealed, counter } = passkey;
  const { rowCount } = await database.query(
    `insert into auth.passkey (id, user_id, credential_hash, sealed, counter)
     select $1, user_id, $3, $4, $5 from auth.person
     where user_id = $2 and status = 'active' and (select count(*) from auth.passkey where user_id = $2) < $6
     on conflict do nothing`,
    [id, userId, credentialHash, sealed, counter, PASSKEYS_MAX],
  );
  return rowCount === 1;
};

/**
 * Records a use; returns false if the counter has not grown (WebAuthn, 7.2, step 22). Authenticators without
 * a counter always send zero. Of two uses with the same counter, one succeeds.
 */
export const notePasskeyUse = async (database: Queryable, id: string, counter: number): Promise<boolean> => {
  const { rowCount } = await database.query(
    'update auth.passkey set counter = $2, used_at = now() where id = $1 and (counter < $2 or (counter = 0 and $2 = 0))',
    [id, counter],
  );
  return rowCount === 1;
};

export const updatePasskey = async (
  database: Queryable,
  { id, sealed }: Pick<PasskeyRow, 'id' | 'sealed'>,
): Promise<void> => {
  await database.query('update auth.passkey set sealed = $2 where id = $1', [id, sealed]);
};

/** Returns the ids of those deleted. */
export const deletePasskeysOf = async (database: Queryable, userId: UserId): Promise<readonly string[]> => {
  const { rows } = await database.query<{ id: string }>(
    'delete from auth.passkey where user_id = $1 returning id',
    [userId],
  );
  return rows.map(({ id }) => id);
};

/** Returns whether this person had it. */
export const deletePasskey = async (database: Queryable, userId: UserId, id: string): Promise<boolean> => {
  const { rowCount } = await database.query('delete from auth.passkey where user_id = $1 and id = $2', [
    userId,
    id,
  ]);
  return rowCount === 1;
};

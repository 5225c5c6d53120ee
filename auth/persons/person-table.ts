import type { UserId, Version } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { PersonInLog } from '#shared/persons/read-person.ts';

/** A person who can sign in, or could before their deletion. */
export type Person = {
  readonly userId: UserId;
  readonly role: Role;
  readonly status: 'active' | 'deactivated' | 'deleted';
  /** The version of the person's stream that this row reflects. */
  readonly version: Version;
};

export const migrateAccounts = (pool: Pool): Promise<void> =>
  migrate(pool, 'auth-accounts', new URL('./migrations/', import.meta.url));

type Queryable = Pick<Connection, 'query'>;

/** The change that an event makes to a person; undefined fields stay as they are. */
type PersonChange = {
  readonly userId: UserId;
  readonly version: Version;
  readonly emailHash?: string | null | undefined;
  readonly role?: Role | undefined;
  /** The role if no readable event has given another. */
  readonly leastRole: Role;
};

/** The status column as `Person` has it. */
export const PERSON_STATUS = `case when status = 'active' and deactivated_at is not null then 'deactivated' else status end as status`;

export const selectPersonByEmail = async (
  database: Queryable,
  emailHash: string,
): Promise<Person | undefined> => {
  const { rows } = await database.query<Person>(
    `select user_id as "userId", role, ${PERSON_STATUS}, version from auth.person where email_hash = $1 and status = 'active'`,
    [emailHash],
  );
  return rows[0];
};

/** A named statement: it runs for every token. */
const BY_ID = {
  name: 'auth-persons-by-id',
  text: `select user_id as "userId", role, ${PERSON_STATUS}, version from auth.person where user_id = any($1::bigint[])`,
};

export const selectPersonsById = async (
  database: Queryable,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, Person>> => {
  const { rows } = await database.query<Person>({ ...BY_ID, values: [userIds] });
  return new Map(rows.map((person) => [person.userId, person]));
};

/** The person with the role of the log. The version stays: tokens that an unread event will end have it. */
export const checkedPerson = (person: Person, found: PersonInLog | undefined): Person =>
  found === undefined ? { ...person, role: '', status: 'deleted' } : { ...person, role: found.role };

export const selectEmailHash = async (database: Queryable, userId: UserId): Promise<string | null> => {
  const { rows } = await database.query<{ emailHash: string | null }>(
    `select email_hash as "emailHash" from auth.person where user_id = $1`,
    [userId],
  );
  return rows[0]?.emailHash ?? null;
};

/**
 * Writes an event's change in a transaction, unless a later event was written already. Idempotent. The log
 * gives an address to one person at a time, so an earlier holder loses it here, even if that event has not
 * been read yet. A confirmation of one address does not count for another.
 */
export const writePerson = async (
  connection: Connection,
  { userId, version, emailHash, role, leastRole }: PersonChange,
): Promise<void> => {
  // A sign-up and the directory may write the same new person at once. `on conflict` covers one index only,
  // and the other would raise an error.
  await connection.query(`select pg_advisory_xact_lock(hashtextextended('auth.person', $1))`, [userId]);
  if (typeof emailHash === 'string') {
    await connection.query(
      `update auth.person set email_hash = null
       where email_hash = $1 and user_id <> $2 and not exists (select from auth.person where user_id = $2 and version > $3)`,
      [emailHash, userId, version],
    );
  }
  await connection.query(
    `insert into auth.person as held (user_id, email_hash, role, status, version) values ($1, $2, coalesce($3, $6), 'active', $5)
     on conflict (user_id) do update set
       email_hash = case when $4 then excluded.email_hash else held.email_hash end,
       confirmed_at = case when $4 and held.email_hash is distinct from excluded.email_hash then null else held.confirmed_at end,
       role = coalesce($3, held.role),
       version = $5
     where held.version <= $5 and held.status = 'active'`,
    [userId, emailHash ?? null, role ?? null, emailHash !== undefined, version, leastRole],
  );
};

/**
 * Returns whether anything changed: deleted persons stay as they are. The caller then reads in the log that
 * the person is no administrator, and rolls back if they are: the role here may be an older one.
 */
export const deactivatePerson = async (database: Queryable, userId: UserId): Promise<boolean> => {
  const { rowCount } = await database.query(
    `update auth.person set deactivated_at = now() where user_id = $1 and status = 'active' and deactivated_at is null`,
    [userId],
  );
  return rowCount === 1;
};

export const reactivatePerson = async (database: Queryable, userId: UserId): Promise<boolean> => {
  const { rowCount } = await database.query(
    `update auth.person set deactivated_at = null where user_id = $1 and status = 'active' and deactivated_at is not null`,
    [userId],
  );
  return rowCount === 1;
};

/**
 * Locks a person until the end of the transaction, so that limits on what they may have hold under
 * concurrency.
 */
export const lockPerson = async (connection: Queryable, userId: UserId): Promise<void> => {
  await connection.query('select from auth.person where user_id = $1 for update', [userId]);
};

/**
 * A deleted person has no address, no role and no credentials. The row stays, because tokens may still name
 * it.
 */
export const deletePerson = async (database: Queryable, userId: UserId, version: Version): Promise<void> => {
  await database.query(
    `insert into auth.person (user_id, email_hash, role, status, version) values ($1, null, '', 'deleted', $2)
     on conflict (user_id) do update set email_hash = null, role = '', status = 'deleted', version = $2`,
    [userId, version],
  );
  for (const table of SIGN_IN_TABLES)
    await database.query(`delete from ${table} where user_id = $1`, [userId]);
};

/** Deletes rows that a process of an older release left behind because it did not know these tables. */
export const deleteLeftOfDeleted = async (database: Queryable): Promise<void> => {
  for (const table of YOUNGER_TABLES)
    await database.query(
      `delete from ${table} using auth.person where person.user_id = ${table}.user_id and person.status = 'deleted'`,
    );
};

const YOUNGER_TABLES = [
  'auth.second_factor',
  'auth.recovery_code',
  'auth.passkey',
  'auth.personal_token',
  'auth.upstream_identity',
  'auth.agent',
  'auth.agent_token',
] as const;
const SIGN_IN_TABLES = ['auth.credential', ...YOUNGER_TABLES] as const;

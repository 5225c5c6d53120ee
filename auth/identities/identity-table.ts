import type { UserId } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';

type Queryable = Pick<Pool, 'query'>;

export type IdentityRow = {
  readonly id: string;
  readonly userId: UserId;
  readonly upstream: string;
  readonly sealed: Buffer;
  readonly linkedAt: Date;
  readonly usedAt: Date | null;
};

/** More than anybody has accounts elsewhere. */
export const IDENTITIES_MAX = 20;
/** An account that was not created in this time is no longer being created. */
const PENDING_HOURS = 24;
const OVER_AT_ONCE = 100;

const COLUMNS =
  'id, user_id as "userId", upstream, sealed, linked_at as "linkedAt", used_at as "usedAt"' as const;

export const selectIdentitiesOf = async (
  database: Queryable,
  userId: UserId,
): Promise<readonly IdentityRow[]> => {
  const { rows } = await database.query<IdentityRow>(
    `select ${COLUMNS} from auth.upstream_identity where user_id = $1 order by linked_at, id`,
    [userId],
  );
  return rows;
};

export const selectIdentityByHash = async (
  database: Queryable,
  identityHash: Buffer,
): Promise<IdentityRow | undefined> => {
  const { rows } = await database.query<IdentityRow>(
    `select ${COLUMNS} from auth.upstream_identity where identity_hash = $1 and user_id is not null`,
    [identityHash],
  );
  return rows[0];
};

/** Begins the creation of an account, or returns the id of one that has begun. */
export const beginIdentity = async (
  database: Queryable,
  { id, upstream, identityHash }: Pick<NewIdentity, 'id' | 'upstream' | 'identityHash'>,
): Promise<string | undefined> => {
  await database.query(
    `delete from auth.upstream_identity where id in (
       select id from auth.upstream_identity where user_id is null and linked_at < now() - $1 * interval '1 hour' limit $2)`,
    [PENDING_HOURS, OVER_AT_ONCE],
  );
  await database.query(
    'insert into auth.upstream_identity (id, upstream, identity_hash) values ($1, $2, $3) on conflict do nothing',
    [id, upstream, identityHash],
  );
  const { rows } = await database.query<{ id: string }>(
    'select id from auth.upstream_identity where identity_hash = $1 and user_id is null',
    [identityHash],
  );
  return rows[0]?.id;
};

export const isIdentityBegun = async (database: Queryable, identityHash: Buffer): Promise<boolean> => {
  const { rowCount } = await database.query(
    'select from auth.upstream_identity where identity_hash = $1 and user_id is null',
    [identityHash],
  );
  return rowCount === 1;
};

type NewIdentity = Pick<IdentityRow, 'id' | 'userId' | 'upstream' | 'sealed'> & {
  readonly identityHash: Buffer;
};

/**
 * Returns false if it is linked already, the person has too many, or was deleted. The row of an account that is
 * being created is replaced. The caller has locked the person.
 */
export const insertIdentity = async (database: Queryable, identity: NewIdentity): Promise<boolean> => {
  const { id, userId, upstream, identityHash, sealed } = identity;
  const { rowCount } = await database.query(
    `insert into auth.upstream_identity as held (id, user_id, upstream, identity_hash, sealed)
     select $1, user_id, $3, $4, $5 from auth.person
     where user_id = $2 and status = 'active' and (select count(*) from auth.upstream_identity where user_id = $2) < $6
     on conflict (identity_hash) do update
       set id = excluded.id, user_id = excluded.user_id, upstream = excluded.upstream, sealed = excluded.sealed, linked_at = now()
     where held.user_id is null`,
    [id, userId, upstream, identityHash, sealed, IDENTITIES_MAX],
  );
  return rowCount === 1;
};

export const noteIdentityUse = async (database: Queryable, id: string): Promise<void> => {
  await database.query('update auth.upstream_identity set used_at = now() where id = $1', [id]);
};

/** Returns the name of its upstream; undefined if this person had no such identity. */
export const deleteIdentity = async (
  database: Queryable,
  userId: UserId,
  id: string,
): Promise<string | undefined> => {
  const { rows } = await database.query<{ upstream: string }>(
    'delete from auth.upstream_identity where user_id = $1 and id = $2 returning upstream',
    [userId, id],
  );
  return rows[0]?.upstream;
};

/** A passkey or identity that a person wants to remove, and the upstreams that are in use. */
export type WayToRemove = { readonly id: string; readonly upstreams: readonly string[] };

/**
 * Returns whether the person can sign in without this passkey or identity: by a password, or another one. Their ids
 * are random, so none is that of both. The caller has locked the person.
 */
export const hasOtherWay = async (
  database: Queryable,
  userId: UserId,
  { id, upstreams }: WayToRemove,
): Promise<boolean> => {
  const { rowCount } = await database.query(
    `select from auth.credential where user_id = $1
     union all select from auth.passkey where user_id = $1 and id <> $2
     union all select from auth.upstream_identity where user_id = $1 and id <> $2 and upstream = any($3)
     limit 1`,
    [userId, id, upstreams],
  );
  return rowCount === 1;
};

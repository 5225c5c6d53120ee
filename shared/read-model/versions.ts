import type { Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { ReadModelTarget } from '#shared/database/read-model-schemas.ts';
import { readCheckpoint } from '#shared/follower/checkpoint.ts';

export type VersionOfReadModel = { readonly position: Position; readonly bytes: number };

/** Its position and size. */
export const readVersion = async (
  pool: Pool,
  { schema, follower }: ReadModelTarget,
): Promise<VersionOfReadModel | undefined> => {
  const checkpoint = await readCheckpoint(pool, follower);
  const { rows } = await pool.query<{ bytes: number }>(
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as bytes
     from pg_class c where relnamespace = to_regnamespace($1) and relkind = 'r' having to_regnamespace($1) is not null`,
    [schema],
  );
  return checkpoint && rows[0] && { position: checkpoint.position, bytes: rows[0].bytes };
};

/**
 * Whether a rebuild or a rollback is in progress in any process. Does not take the lock, which would keep one from
 * beginning.
 */
export const areVersionsLocked = async (pool: Pool): Promise<boolean> => {
  const { rows } = await pool.query<{ isHeld: boolean }>(
    `select exists (
       select from pg_locks
       where locktype = 'advisory' and granted and objsubid = 1 and database = (select oid from pg_database where datname = current_database())
         and (classid::bigint << 32) | objid::bigint = hashtext($1)
     ) as "isHeld"`,
    [VERSIONS_LOCK],
  );
  return rows[0]?.isHeld === true;
};

/** The advisory lock of a rebuild or rollback. */
export const VERSIONS_LOCK = 'annals versions of the read model';

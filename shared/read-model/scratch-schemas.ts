import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';

/** The comment of a scratch schema. No live schema ever has one. */
export type Mark = {
  readonly use: 'replay' | 'verify';
  readonly log: LogIdentity;
  /** The position up to which it has applied the log. */
  readonly position: Position;
  readonly madeAt: string;
  /** Until then it belongs to the process that fills it, and is dropped with it. */
  readonly isWhole: boolean;
  /** The number of users, once it is complete. */
  readonly users?: number;
};

const MARK = 'annals scratch ';

/** The text contains no apostrophe. */
export const textOf = (mark: Mark): string => MARK + JSON.stringify(mark);

type Marked = Mark & { readonly schema: string; readonly bytes: number };

export type Found = Marked & {
  /** A crash of the server empties unlogged tables. */
  readonly isEmptied: boolean;
};

/** The present scratch schemas. */
export const listScratch = async (pool: Pool): Promise<readonly Found[]> => {
  const found = await listMarked(pool);
  return Promise.all(
    found.map(async (each) => ({
      ...each,
      isEmptied: (each.users ?? 0) > 0 && !(await hasUsers(pool, each.schema)),
    })),
  );
};

const listMarked = async (pool: Pool): Promise<readonly Marked[]> => {
  const { rows } = await pool.query<{ schema: string; text: string; bytes: number }>(
    `select nspname as schema, obj_description(n.oid, 'pg_namespace') as text,
       (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c where relnamespace = n.oid and relkind = 'r') as bytes
     from pg_namespace n
     where nspname ~ '^(replay|verify)_' and obj_description(n.oid, 'pg_namespace') like $1
     order by nspname`,
    [`${MARK}{%`],
  );
  return rows.map(({ schema, text, bytes }) => ({
    schema,
    bytes,
    ...(JSON.parse(text.slice(MARK.length)) as Mark),
  }));
};

const hasUsers = async (pool: Pool, schema: string): Promise<boolean> => {
  const { rows } = await pool.query<{ isThere: boolean }>(
    `select exists (select from ${schema}.users) as "isThere"`,
  );
  return rows[0]?.isThere === true;
};

/** The time to wait for its readers, while others queue behind. */
const READERS_MAX_MS = 5_000;

/** Drops a kept schema, or one of a dead process; returns whether it existed. */
export const dropScratch = async (pool: Pool, schema: string): Promise<boolean> => {
  const found = await listMarked(pool);
  if (!found.some((each) => each.schema === schema)) return false;
  return inTransaction(pool, async (connection) => {
    await connection.query(`set local lock_timeout = ${READERS_MAX_MS}`);
    const { rows } = await connection.query<{ isFree: boolean }>(
      `select pg_try_advisory_xact_lock(${LOCK_OF}) as "isFree"`,
      [schema],
    );
    if (!rows[0]?.isFree) return false;
    await connection.query(`drop schema if exists ${schema} cascade`);
    return true;
  });
};

/** Drops the schemas of killed processes. A schema with a reader is left to the next call. */
export const dropAbandoned = async (pool: Pool): Promise<void> => {
  const unfinished = (await listMarked(pool)).filter(({ isWhole }) => !isWhole);
  for (const { schema } of unfinished) await dropScratch(pool, schema).catch(unlessLocked);
};

const unlessLocked = (error: unknown): boolean => {
  if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return false;
  throw error;
};
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * By the name of the schema: the process that fills it holds the lock for as long as its connection lasts.
 */
export const LOCK_OF = `hashtext('annals scratch ' || $1)`;

import type { UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { COMMENTS } from '#shared/read-model/comments.ts';
import { dropAbandoned } from '#shared/read-model/scratch-schemas.ts';
import { USERS } from '#shared/read-model/users.ts';
import { WEBHOOKS } from '#shared/read-model/webhooks.ts';

/** Whatever has these tables is a read model: the live one, one that was or is to be, or one that somebody has replayed to look at it. */
const TABLES = ['users', 'articles', 'comments', 'webhooks', 'departed', 'parked'] as const;

/** Whose the personal columns of each are. */
const OWNED = [
  { table: USERS, owner: 'id' },
  { table: COMMENTS, owner: 'author_id' },
  { table: WEBHOOKS, owner: 'owner_id' },
] as const;

/** What is there of a person, and what is there without their key. */
const PERSONAL = OWNED.map(({ table: { name, personal, columns }, owner }) => {
  const types: Readonly<Record<string, string>> = columns;
  const none = (column: string): string => (types[column] === 'text[]' ? `'{}'` : 'null');
  return {
    name,
    owner,
    isThere: personal.map((column) => `${column} is distinct from ${none(column)}`).join(' or '),
    erased: personal.map((column) => `${column} = ${none(column)}`).join(', '),
  };
});

/** How long those who change its tables are waited for, with those that wait behind. */
const OTHERS_MAX_MS = 10_000;

/**
 * Takes what is personal of some people out of all read models. The projector does that for the live one when it comes to their deletion;
 * of the others, some are kept up with the log by nobody. What is left is what a replay comes to without their keys. What a verification that
 * was killed has left goes as a whole.
 */
export const eraseInReadModels = async (pool: Pool, userIds: readonly UserId[]): Promise<void> => {
  if (userIds.length === 0) return;
  await dropAbandoned(pool);
  for (const schema of await readModels(pool)) await eraseIn(pool, schema, userIds);
};

/** The schemas that hold a read model. */
export const readModels = async (pool: Pick<Pool, 'query'>): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ schema: string }>(
    `select quote_ident(nspname) as schema from pg_class c join pg_namespace n on n.oid = relnamespace
     where relkind = 'r' and relname = any($1) group by nspname having count(*) = $2 order by nspname`,
    [TABLES, TABLES.length],
  );
  return rows.map(({ schema }) => schema);
};

/** The same for one of them. */
export const eraseIn = async (pool: Pool, schema: string, userIds: readonly UserId[]): Promise<void> => {
  try {
    await inTransaction(pool, async (connection) => {
      await connection.query(`set local lock_timeout = ${OTHERS_MAX_MS}`);
      // What the projector is writing just now is left to it: with either waiting for the other, both could for ever.
      for (const { name, owner, isThere, erased } of PERSONAL)
        await connection.query(
          `update ${schema}.${name} t set ${erased} from (
             select ctid from ${schema}.${name} where ${owner} = any($1) and (${isThere}) for update skip locked) found
           where t.ctid = found.ctid`,
          [userIds],
        );
    });
  } catch (error) {
    // It was dropped, or has got another name, in the meantime: whoever did that has looked for the deleted there.
    if (!GONE.has(String((error as { code?: unknown }).code))) throw error;
  }
};

/** `invalid_schema_name` and `undefined_table`. */
const GONE = new Set(['3F000', '42P01']);

/** How much of somebody is left in a read model. */
export const countIn = async (pool: Pick<Pool, 'query'>, schema: string, userId: UserId): Promise<number> => {
  const counts = PERSONAL.map(
    ({ name, owner, isThere }) => `(select count(*) from ${schema}.${name} where ${owner} = $1 and (${isThere}))`,
  ).join(' + ');
  const { rows } = await pool.query<{ count: number }>(`select (${counts})::integer as count`, [userId]);
  return rows[0]?.count ?? 0;
};

/** What the deciders say, which a verification puts down beside its rows, and whose the personal fields of each are. */
const FOLDED = [
  { table: 'fold_users', owner: 'id', field: 'name' },
  { table: 'fold_comments', owner: `(expected::json->>'author_id')::bigint`, field: 'text' },
  { table: 'fold_webhooks', owner: `(expected::json->>'owner_id')::bigint`, field: 'url' },
] as const;

/** How much of somebody verifications hold that are under way, or were killed and not cleared away yet. Each drops all that it holds. */
export const countInVerifications = async (pool: Pool, userId: UserId): Promise<number> => {
  const { rows: found } = await pool.query<{ schema: string }>(
    `select quote_ident(nspname) as schema from pg_class c join pg_namespace n on n.oid = relnamespace
     where relkind = 'r' and relname = any($1) group by nspname having count(*) = $2 order by nspname`,
    [FOLDED.map(({ table }) => table), FOLDED.length],
  );
  let total = 0;
  for (const { schema } of found) total += await countFolded(pool, schema, userId);
  return total;
};

const countFolded = async (pool: Pool, schema: string, userId: UserId): Promise<number> => {
  const counts = FOLDED.map(
    ({ table, owner, field }) =>
      `(select count(*) from ${schema}.${table} where ${owner} = $1 and expected::json->>'${field}' is not null)`,
  ).join(' + ');
  try {
    const { rows } = await pool.query<{ count: number }>(`select (${counts})::integer as count`, [userId]);
    return rows[0]?.count ?? 0;
  } catch (error) {
    // It was dropped in the meantime.
    if (GONE.has(String((error as { code?: unknown }).code))) return 0;
    throw error;
  }
};

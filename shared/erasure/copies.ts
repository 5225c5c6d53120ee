import type { UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { COMMENTS } from '#shared/read-model/comments.ts';
import { dropAbandoned } from '#shared/read-model/scratch-schemas.ts';
import { USERS } from '#shared/read-model/users.ts';
import { WEBHOOKS } from '#shared/read-model/webhooks.ts';
import { type FoundTable, findTables, withTable } from './find-tables.ts';

/** Whose the personal columns of each table of a read model are. */
const OWNED = [
  { table: USERS, owner: 'id' },
  { table: COMMENTS, owner: 'author_id' },
  { table: WEBHOOKS, owner: 'owner_id' },
] as const;

/** Every release has had these in each of them, and only ours have a seal: nobody else's table of the same name is taken for one. */
const CORE = {
  id: 'bigint',
  seal: 'text',
  version: 'integer',
  created_at: 'timestamp with time zone',
  updated_at: 'timestamp with time zone',
};

/** A table with personal data, of the live read model or of any other one, in whatever form a release has given it. */
type Copy = { readonly table: FoundTable; readonly owner: string; readonly isThere: string; readonly erased: string };

const findCopies = async (pool: Pick<Pool, 'query'>): Promise<readonly Copy[]> => {
  const tables = await findTables(
    pool,
    OWNED.map(({ table }) => table.name),
  );
  return tables.flatMap((table) => copyOf(table) ?? []);
};

const copyOf = (table: FoundTable): Copy | undefined => {
  const owned = OWNED.find((each) => each.table.name === table.name);
  if (!owned) return undefined;
  const core = Object.entries({ ...CORE, [owned.owner]: 'bigint' });
  if (!core.every(([column, type]) => table.columns[column] === type)) return undefined;
  const types: Readonly<Record<string, string>> = owned.table.columns;
  const none = (column: string): string => (types[column] === 'text[]' ? `'{}'` : 'null');
  const personal = owned.table.personal.filter((column) => table.columns[column] !== undefined);
  if (personal.length === 0) return undefined;
  return {
    table,
    owner: owned.owner,
    isThere: personal.map((column) => `${column} is distinct from ${none(column)}`).join(' or '),
    erased: personal.map((column) => `${column} = ${none(column)}`).join(', '),
  };
};

/** How long those who change its tables are waited for, with those that wait behind. */
const OTHERS_MAX_MS = 10_000;

/**
 * Takes what is personal of some people out of all read models. The projector does that for the live one when it comes to their deletion;
 * of the others, some are kept up with the log by nobody. What is left is what a replay comes to without their keys. What a verification that
 * was killed has left goes as a whole. Throws if one table could not be erased, once all others were.
 */
export const eraseInReadModels = async (pool: Pool, userIds: readonly UserId[]): Promise<void> => {
  if (userIds.length === 0) return;
  await dropAbandoned(pool);
  await eraseCopies(pool, await findCopies(pool), userIds);
};

/** The schemas that hold a read model, or a part of one. */
export const readModels = async (pool: Pick<Pool, 'query'>): Promise<readonly string[]> => [
  ...new Set((await findCopies(pool)).map(({ table }) => table.schema)),
];

/** The same for one of them. */
export const eraseIn = async (pool: Pool, schema: string, userIds: readonly UserId[]): Promise<void> => {
  const copies = await findCopies(pool);
  await eraseCopies(
    pool,
    copies.filter(({ table }) => table.schema === schema),
    userIds,
  );
};

const eraseCopies = async (pool: Pool, copies: readonly Copy[], userIds: readonly UserId[]): Promise<void> => {
  const failures: { readonly name: string; readonly error: unknown }[] = [];
  for (const copy of copies) {
    const name = `${copy.table.schema}.${copy.table.name}`;
    await eraseCopy(pool, copy, userIds).catch((error: unknown) => void failures.push({ name, error }));
  }
  if (failures.length === 0) return;
  throw new AggregateError(
    failures.map(({ error }) => error),
    `Personal data is left in ${failures.map(({ name }) => name).join(', ')}.`,
    { cause: failures[0]?.error },
  );
};

const eraseCopy = (pool: Pool, { table, owner, isThere, erased }: Copy, userIds: readonly UserId[]): Promise<unknown> =>
  withTable(pool, table, (name) =>
    inTransaction(
      pool,
      // What the projector is writing just now is left to it: with either waiting for the other, both could for ever.
      (connection) =>
        connection.query(
          `update ${name} t set ${erased} from (
             select ctid from ${name} where ${owner} = any($1) and (${isThere}) for update skip locked) found
           where t.ctid = found.ctid`,
          [userIds],
        ),
      `set local lock_timeout = ${OTHERS_MAX_MS}`,
    ),
  );

/** How much of somebody is left in each read model, by its schema. */
export const countInReadModels = async (pool: Pick<Pool, 'query'>, userId: UserId): Promise<ReadonlyMap<string, number>> => {
  const left = new Map<string, number>();
  for (const { table, owner, isThere } of await findCopies(pool)) {
    const count = await countIn(pool, table, { condition: `${owner} = $1 and (${isThere})`, userId });
    left.set(table.schema, (left.get(table.schema) ?? 0) + count);
  }
  return left;
};

/** What the deciders say, which a verification puts down beside its rows, and whose the personal fields of each are. */
const FOLDED: Readonly<Record<string, string>> = {
  fold_users: `id = $1 and expected::json->>'name' is not null`,
  fold_comments: `(expected::json->>'author_id')::bigint = $1 and expected::json->>'text' is not null`,
  fold_webhooks: `(expected::json->>'owner_id')::bigint = $1 and expected::json->>'url' is not null`,
};

/** How much of somebody verifications hold that are under way, or were killed and not cleared away yet. Each drops all that it holds. */
export const countInVerifications = async (pool: Pool, userId: UserId): Promise<number> => {
  let total = 0;
  for (const table of await findTables(pool, Object.keys(FOLDED)))
    total += await countIn(pool, table, { condition: FOLDED[table.name] ?? 'false', userId });
  return total;
};

const countIn = async (
  pool: Pick<Pool, 'query'>,
  table: FoundTable,
  { condition, userId }: { readonly condition: string; readonly userId: UserId },
): Promise<number> =>
  (await withTable(pool, table, async (name) => {
    const { rows } = await pool.query<{ count: number }>(`select count(*) as count from ${name} where ${condition}`, [userId]);
    return rows[0]?.count ?? 0;
  })) ?? 0;

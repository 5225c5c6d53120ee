import { CHANGED } from '#kernel/rows/view-table.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';

/**
 * One digest per table of a read model, all of one snapshot. Digests are equal exactly if the tables have the
 * same content, whatever the order of rows and columns. Leaves out computed columns, the times of parking,
 * and the positions of view streams. Always computed from the rows.
 */
export const digestOf = (pool: Pool, schema: string): Promise<Record<string, string>> =>
  inTransaction(pool, async (connection) => {
    await connection.query('set transaction isolation level repeatable read, read only');
    // The text of a time depends on the reader’s time zone.
    await connection.query(`set local timezone = 'UTC'`);
    const digests: Record<string, string> = {};
    for (const { table, statement } of await statementsFor(connection, schema)) {
      const { rows } = await connection.query<{ digest: string }>(statement);
      digests[table] = rows[0]?.digest ?? '';
    }
    return digests;
  });

/**
 * The sums of the two halves of each row’s hash do not depend on the order of the rows, and need no memory.
 */
const statementsFor = async (connection: Connection, schema: string) => {
  const { rows } = await connection.query<{ table: string; statement: string }>(
    `select relname as table, format(
       $$select format('%%s rows, %%s %%s', count(*), coalesce(sum(('x' || left(hash, 16))::bit(64)::bigint), 0),
           coalesce(sum(('x' || right(hash, 16))::bit(64)::bigint), 0)) as digest
         from (select md5(row(%s)::text) as hash from %I.%I) hashed$$,
       string_agg(quote_ident(attname), ', ' order by attname), nspname, relname) as statement
     from pg_class c join pg_namespace n on n.oid = relnamespace join pg_attribute a on attrelid = c.oid
     where nspname = $1 and relkind = 'r' and attnum > 0 and not attisdropped and attgenerated = '' and attname not in ('parked_at', '${CHANGED}') and relname not in ('digest', 'view_stream', 'view_removed', 'view_readers')
     group by nspname, relname
     order by relname`,
    [schema],
  );
  return rows;
};

import type { Pool } from '#shared/database/pool.ts';

/** A table wherever it is: its schema may get another name, or go, at any time. */
export type FoundTable = {
  readonly oid: number;
  /** Quoted. */
  readonly schema: string;
  readonly name: string;
  /** The type of each, as PostgreSQL calls it. */
  readonly columns: Readonly<Record<string, string>>;
};

/** Nothing of ours that is copied is in `public`, where tables of others may be. */
const TABLES = `
  select c.oid::bigint as oid, quote_ident(nspname) as schema, relname as name, 
    jsonb_object_agg(attname, format_type(atttypid, null)) as columns
  from pg_class c join pg_namespace n on n.oid = relnamespace join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped
  where relkind in ('r', 'p') and nspname <> all ('{public,information_schema}') and nspname !~ '^pg_'`;

/** The tables of these names in whatever schemas there are. */
export const findTables = async (pool: Pick<Pool, 'query'>, names: readonly string[]): Promise<readonly FoundTable[]> => {
  const { rows } = await pool.query<FoundTable>(`${TABLES} and relname = any($1) group by 1, 2, 3 order by 2, 3`, [names]);
  return rows;
};

const RENAMED_TIMES_MAX = 5;

/** Does something with a table under the name that it has by then, or returns nothing if it was dropped. */
export const withTable = async <Result>(
  pool: Pick<Pool, 'query'>,
  found: FoundTable,
  work: (name: string) => Promise<Result>,
): Promise<Result | undefined> => {
  let table: FoundTable | undefined = found;
  for (let times = 1; table !== undefined; times += 1) {
    try {
      return await work(`${table.schema}.${table.name}`);
    } catch (error) {
      if (!GONE.has(String((error as { code?: unknown }).code)) || times === RENAMED_TIMES_MAX) throw error;
      // That nothing has this name is no proof that the table is gone: a swap gives its schema another one.
      const { rows } = await pool.query<FoundTable>(`${TABLES} and c.oid = $1 group by 1, 2, 3`, [found.oid]);
      table = rows[0];
    }
  }
  return undefined;
};

/** `invalid_schema_name` and `undefined_table`. */
const GONE = new Set(['3F000', '42P01']);

import type { Pool } from '../database/pool.ts';

/** A table by its oid, because its schema may be renamed or dropped at any time. */
export type FoundTable = {
  readonly oid: number;
  /** Quoted. */
  readonly schema: string;
  readonly name: string;
  /** The types of the columns, by PostgreSQL’s names. */
  readonly columns: Readonly<Record<string, string>>;
  /**
   * Columns without samples in PostgreSQL’s statistics: in a read model of any release, those are the
   * personal ones, beside the vector of the search, which PostgreSQL computes from them.
   */
  readonly unsampled: readonly string[];
};

/** None of our copies is in `public`, where foreign tables may be. */
const TABLES = `
  select c.oid::bigint as oid, quote_ident(nspname) as schema, relname as name, 
    jsonb_object_agg(attname, format_type(atttypid, null)) as columns,
    coalesce(jsonb_agg(attname) filter (where attstattarget = 0 and attgenerated = ''), '[]') as unsampled
  from pg_class c join pg_namespace n on n.oid = relnamespace join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped
  where relkind in ('r', 'p') and nspname <> all ('{public,information_schema}') and nspname !~ '^pg_'`;

/** The tables of these names in any schema; of any name by default. */
export const findTables = async (
  pool: Pick<Pool, 'query'>,
  names?: readonly string[],
): Promise<readonly FoundTable[]> => {
  const { rows } = await pool.query<FoundTable>(
    `${TABLES} and ($1::text[] is null or relname = any($1)) group by 1, 2, 3 order by 2, 3`,
    [names ?? null],
  );
  return rows;
};

const RENAMED_TIMES_MAX = 5;

/** Uses a table under the name that it has by then; returns undefined if it was dropped. */
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
      // A missing name does not prove that the table is gone: a swap renames its schema.
      const { rows } = await pool.query<FoundTable>(`${TABLES} and c.oid = $1 group by 1, 2, 3`, [found.oid]);
      table = rows[0];
    }
  }
  return undefined;
};

/** `invalid_schema_name` and `undefined_table`. */
const GONE = new Set(['3F000', '42P01']);

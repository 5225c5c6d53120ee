import type { Connection } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import type { OfStreams, Tables } from '#shared/read-model/tables.ts';
import { type Comparison, ROW_KEY } from './compare.ts';

/** The tables beside those of aggregates, with what tells their rows apart. */
const KEYS = {
  departed: 'user_id',
  removed: `kind || ' ' || id`,
  parked: 'stream',
} as const;
export const BOOKKEEPING: readonly string[] = Object.keys(KEYS);

/**
 * The read model in use, held against the one that was just made from the log: all columns that are written,
 * except when something was parked.
 */
export const liveComparisons = async (
  connection: Connection,
  tables: Tables,
  schema: string,
): Promise<readonly Comparison[]> => {
  const comparisons: Comparison[] = [];
  for (const [table, key] of [
    ...tables.ofStreams.map((each) => [each.name, keyOf(each)] as const),
    ...tables.views.map(({ name, keys }) => [name, rowKeyOf(keys)] as const),
    ...Object.entries(KEYS),
  ]) {
    const columns = await columnsOf(connection, schema, table);
    const selected = [`${key} as ${ROW_KEY}`, ...columns].join(', ');
    const [recorded, found] = [schema, LIVE_SCHEMA].map(
      (each) => `select ${selected} from ${each}.${table}`,
    ) as [string, string];
    comparisons.push({ table, columns, recorded, found });
  }
  return comparisons;
};

/** No two keys look the same as JSON. */
const rowKeyOf = (keys: readonly string[]): string =>
  keys.length === 1 ? `${keys[0]}` : `json_build_array(${keys.join(', ')})::text`;

/** Items are told apart by their aggregates too. */
export const keyOf = (table: OfStreams): string => ('key' in table ? table.key.join(` || '.' || `) : 'id');

const columnsOf = async (
  connection: Connection,
  schema: string,
  table: string,
): Promise<readonly string[]> => {
  const { rows } = await connection.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
     where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attgenerated = '' and attname <> 'parked_at'
     order by attnum`,
    [`${schema}.${table}`],
  );
  return rows.map(({ name }) => name);
};

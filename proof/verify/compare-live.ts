import type { Connection } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { OfStreams, Tables } from '#shared/read-model/tables.ts';
import { type Comparison, ROW_KEY } from './compare.ts';

/** The tables beside those of aggregates, with the keys of their rows. */
const KEYS = {
  departed: 'user_id',
  removed: `kind || ' ' || id`,
  parked: 'stream',
} as const;
export const BOOKKEEPING: readonly string[] = Object.keys(KEYS);

/**
 * Comparisons of the live read model with the one just built from the log: all written columns, except the
 * time of parking.
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

/** As JSON, different keys differ. */
const rowKeyOf = (keys: readonly string[]): string =>
  keys.length === 1 ? `${keys[0]}` : `json_build_array(${keys.join(', ')})::text`;

/** The key of items includes their aggregate. */
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

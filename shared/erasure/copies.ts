import type { Pool } from '#shared/database/pool.ts';
import { LIVE, NEXT } from '#shared/database/read-model-schemas.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { type FoundTable, findTables } from './found-tables.ts';

/**
 * Every release has had these columns in each of them. Only our tables have a seal, so no foreign table of
 * the same name matches.
 */
const SEALED = {
  seal: 'text',
  version: 'integer',
  created_at: 'timestamp with time zone',
  updated_at: 'timestamp with time zone',
};

/** A table with personal data, of the live read model or of any other one, in the form of any release. */
export type Copy = {
  readonly table: FoundTable;
  /** The columns that name its person; one match suffices. */
  readonly owners: readonly string[];
  readonly personal: readonly string[];
  readonly isThere: string;
  readonly erased: string;
};

export const findCopies = async (pool: Pick<Pool, 'query'>, tables: Tables): Promise<readonly Copy[]> => {
  const found = await findTables(pool);
  const known = found.flatMap((table) => copyOf(tables, table) ?? []);
  const former = new Set(known.map(({ table }) => table.schema).filter((schema) => !KEPT_UP.has(schema)));
  const seen = new Set(known.map(({ table }) => table));
  return [
    ...known,
    ...found.flatMap((table) =>
      seen.has(table) || !former.has(table.schema) ? [] : (formerOf(table) ?? []),
    ),
  ];
};

/** In these, unknown columns belong to a later release, which erases them. */
const KEPT_UP: ReadonlySet<string> = new Set([LIVE.schema, NEXT.schema]);

/** A row of a table that is no longer declared belongs to everybody it names. */
const formerOf = (table: FoundTable): Copy | undefined => {
  const ids = Object.entries(table.columns).flatMap(([column, type]) => (type === 'bigint' ? [column] : []));
  return hasColumns(table, SEALED) && ids.length > 0 ? copyFrom(table, ids, table.unsampled) : undefined;
};

const copyOf = (tables: Tables, found: FoundTable): Copy | undefined => {
  const table = tables.named(found.name);
  if (!table || table.person === null) return undefined;
  const known = {
    ...SEALED,
    ...('key' in table ? { [table.key[0]]: 'bigint' } : { id: 'bigint' }),
    [table.person]: 'bigint',
  };
  if (!hasColumns(found, known)) return undefined;
  // A former release may have declared others. In the live read model, an operator may have set a statistics
  // target on other columns.
  const others = KEPT_UP.has(found.schema) ? [] : found.unsampled;
  return copyFrom(found, [table.person], [...new Set([...table.personal, ...others])]);
};

const hasColumns = ({ columns }: FoundTable, known: Readonly<Record<string, string>>): boolean =>
  Object.entries(known).every(([column, type]) => columns[column] === type);

const copyFrom = (
  table: FoundTable,
  owners: readonly string[],
  personal: readonly string[],
): Copy | undefined => {
  const there = personal.filter((column) => table.columns[column] !== undefined);
  if (there.length === 0) return undefined;
  const noneOf = (column: string): string => (table.columns[column] === 'text[]' ? `'{}'` : 'null');
  return {
    table,
    owners,
    personal: there,
    isThere: there.map((column) => `${column} is distinct from ${noneOf(column)}`).join(' or '),
    erased: there.map((column) => `${column} = ${noneOf(column)}`).join(', '),
  };
};

/** The pool and the tables of read models. */
export type ReadModels = { readonly pool: Pool; readonly tables: Tables };

/** The schemas that hold a read model, or a part of one. */
export const readModels = async ({ pool, tables }: ReadModels): Promise<readonly string[]> => [
  ...new Set((await findCopies(pool, tables)).map(({ table }) => table.schema)),
];

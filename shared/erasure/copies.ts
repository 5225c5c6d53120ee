// Over 200 lines, because finding the tables that hold personal data, in any schema and form, and erasing in
// them is one thing.
import type { UserId } from '#kernel/base/brands.ts';
import type { Table } from '#kernel/rows/change.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE, NEXT } from '#shared/database/read-model-schemas.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { dropAbandoned } from '#shared/read-model/scratch-schemas.ts';
import type { ProjectedItems, Tables } from '#shared/read-model/tables.ts';

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
type Copy = {
  readonly table: FoundTable;
  /** The columns that name its person; one match suffices. */
  readonly owners: readonly string[];
  readonly personal: readonly string[];
  readonly isThere: string;
  readonly erased: string;
};

const findCopies = async (pool: Pick<Pool, 'query'>, tables: Tables): Promise<readonly Copy[]> => {
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

/** The time to wait for transactions that change its tables, while others queue behind. */
const OTHERS_MAX_MS = 10_000;

/** The pool and the tables of read models. */
export type ReadModels = { readonly pool: Pool; readonly tables: Tables };

/**
 * Erases the personal data of some persons in all read models. The projector does that for the live one when
 * it applies their deletion, but nothing keeps some of the others up to date. The rest equals a replay
 * without their keys. Drops the leftovers of a killed verification as a whole. If one table cannot be erased,
 * erases all others and then throws.
 */
export const eraseInReadModels = async (
  { pool, tables }: ReadModels,
  userIds: readonly UserId[],
): Promise<void> => {
  if (userIds.length === 0) return;
  await dropAbandoned(pool);
  await eraseCopies(pool, await findCopies(pool, tables), userIds);
};

/** The schemas that hold a read model, or a part of one. */
export const readModels = async ({ pool, tables }: ReadModels): Promise<readonly string[]> => [
  ...new Set((await findCopies(pool, tables)).map(({ table }) => table.schema)),
];

/** The same for one of them. */
export const eraseIn = async (
  { pool, tables }: ReadModels,
  schema: string,
  userIds: readonly UserId[],
): Promise<void> => {
  const copies = await findCopies(pool, tables);
  await eraseCopies(
    pool,
    copies.filter(({ table }) => table.schema === schema),
    userIds,
  );
};

const eraseCopies = async (
  pool: Pool,
  copies: readonly Copy[],
  userIds: readonly UserId[],
): Promise<void> => {
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

const eraseCopy = (
  pool: Pool,
  { table, owners, isThere, erased }: Copy,
  userIds: readonly UserId[],
): Promise<unknown> =>
  withTable(pool, table, (name) =>
    inTransaction(
      pool,
      // Skips rows that the projector is writing, because waiting for each other could be a deadlock.
      (connection) =>
        connection.query(
          `update ${name} t set ${erased} from (
             select ctid from ${name} where (${owners.map((owner) => `${owner} = any($1)`).join(' or ')}) and (${isThere}) for update skip locked) found
           where t.ctid = found.ctid`,
          [userIds],
        ),
      `set local lock_timeout = ${OTHERS_MAX_MS}`,
    ),
  );

/** A table, the number of its rows that belong to a person, and the number of those with data left. */
export type CountedTable = {
  readonly place: string;
  readonly rows: number | null;
  readonly left: number;
  readonly says: string;
};
export type CountedCopy = CountedTable & { readonly schema: string };

/** Counts the remaining data of a person in each table with personal data, of any read model. */
export const countCopies = async (
  { pool, tables }: ReadModels,
  userId: UserId,
): Promise<readonly CountedCopy[]> => {
  const counted: CountedCopy[] = [];
  for (const { table, owners, personal, isThere } of await findCopies(pool, tables)) {
    const isTheirs = owners.map((owner) => `${owner} = $1`).join(' or ');
    const found = await countIn(pool, table, { condition: isTheirs, filter: isThere, userId });
    counted.push({
      place: `${table.schema}.${table.name}`,
      schema: table.schema,
      ...found,
      says: `rows of theirs, whose ${personal.join(', ')} ${personal.length === 1 ? 'is' : 'are'} personal`,
    });
  }
  return counted;
};

/** Counts the remaining data of a person in each read model, by its schema. */
export const countInReadModels = async (
  readModels: ReadModels,
  userId: UserId,
): Promise<ReadonlyMap<string, number>> => {
  const left = new Map<string, number>();
  for (const { schema, left: count } of await countCopies(readModels, userId))
    left.set(schema, (left.get(schema) ?? 0) + count);
  return left;
};

/**
 * Counts the data of a person in verifications that are under way, or were killed and not cleared away yet.
 * Each drops everything at its end.
 */
export const countInVerifications = async (readModels: ReadModels, userId: UserId): Promise<number> =>
  (await countVerificationTables(readModels, userId)).reduce((sum, { left }) => sum + left, 0);

export const countVerificationTables = async (
  { pool, tables }: ReadModels,
  userId: UserId,
): Promise<readonly CountedTable[]> => {
  const conditions = new Map<string, string>(
    tables.all.flatMap((table) => {
      const all = [
        ...(table.person === null ? [] : [isOfPerson(table)]),
        ...table.items.flatMap((items) => (items.person === null ? [] : [hasOfPerson(items)])),
      ];
      return all.length === 0 ? [] : [[`fold_${table.name}`, all.join(' or ')] as const];
    }),
  );
  const counted: CountedTable[] = [];
  for (const table of await findTables(pool, [...conditions.keys()])) {
    const { left } = await countIn(pool, table, {
      condition: conditions.get(table.name) ?? 'false',
      filter: 'true',
      userId,
    });
    counted.push({
      place: `${table.schema}.${table.name}`,
      rows: left,
      left,
      says: 'temporary tables of a verification, which drops them',
    });
  }
  return counted;
};

/**
 * The state of the deciders, which a verification stores beside its rows, contains personal data of a person.
 */
const isOfPerson = ({ person, personal }: Table): string => {
  const isTheirs = person === 'id' ? 'id = $1' : `(expected::json->>'${person}')::bigint = $1`;
  return `(${isTheirs} and (${personal.map((column) => `coalesce(expected::json->>'${column}', '[]') <> '[]'`).join(' or ')}))`;
};

const hasOfPerson = (table: ProjectedItems): string =>
  `exists (select from json_array_elements(expected_${table.name}::json) as items (expected) where ${isOfPerson(table)})`;

type Counting = { readonly condition: string; readonly filter: string; readonly userId: UserId };

const countIn = async (
  pool: Pick<Pool, 'query'>,
  table: FoundTable,
  { condition, filter, userId }: Counting,
): Promise<{ readonly rows: number; readonly left: number }> => {
  const counts = await withTable(pool, table, async (name) => {
    const text = `select count(*) as rows, count(*) filter (where ${filter}) as left from ${name} where (${condition})`;
    const { rows } = await pool.query<{ rows: number; left: number }>(text, [userId]);
    return rows[0];
  });
  return { rows: Number(counts?.rows ?? 0), left: Number(counts?.left ?? 0) };
};

/** A table by its oid, because its schema may be renamed or dropped at any time. */
type FoundTable = {
  readonly oid: number;
  /** Quoted. */
  readonly schema: string;
  readonly name: string;
  /** The types of the columns, by PostgreSQL’s names. */
  readonly columns: Readonly<Record<string, string>>;
  /**
   * Columns without samples in PostgreSQL’s statistics: in a read model of any release, those are the
   * personal ones.
   */
  readonly unsampled: readonly string[];
};

/** None of our copies is in `public`, where foreign tables may be. */
const TABLES = `
  select c.oid::bigint as oid, quote_ident(nspname) as schema, relname as name, 
    jsonb_object_agg(attname, format_type(atttypid, null)) as columns,
    coalesce(jsonb_agg(attname) filter (where attstattarget = 0), '[]') as unsampled
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

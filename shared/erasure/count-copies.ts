import type { UserId } from '#kernel/base/brands.ts';
import type { Table } from '#kernel/rows/change.ts';
import type { Pool } from '../database/pool.ts';
import type { ProjectedItems } from '../read-model/tables.ts';
import { findCopies, type ReadModels } from './copies.ts';
import { type FoundTable, findTables, withTable } from './found-tables.ts';

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

import type { Position } from '#kernel/base/brands.ts';
import { sqlName } from '#kernel/base/names.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA, PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { definitionIn } from './fingerprint.ts';

type Digested = {
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly personal: readonly string[];
};

/** The digest of each table, as text: the number of rows, and the sums of the halves of their hashes. */
export type Digests = Readonly<Record<string, string>>;

/**
 * The projector sets this in its transaction. A manual change lacks it, so the kept digest does not include
 * that change, and verification finds it.
 */
export const PROJECTING = `set_config('annals.projecting', 'on', true)`;

/**
 * All columns, with the seal in place of personal ones; sorted by name, so that the order of columns does not
 * matter.
 */
const rowText = ({ columns, personal }: Digested): string =>
  `row(${Object.keys(columns)
    .filter((column) => !personal.includes(column))
    .toSorted()
    .join(', ')})::text`;

/**
 * Sums do not depend on the order of rows, so that a deleted row can be subtracted. Without the offset,
 * PostgreSQL would compute the text of a row, and its hash, once for each half.
 */
const sumsOver = (table: Digested, source: string): string =>
  `select count(*) as rows, coalesce(sum(hash::bit(64)::bigint), 0) as low, coalesce(sum((hash << 64)::bit(64)::bigint), 0) as high
   from (select ('x' || md5(${rowText(table)}))::bit(128) as hash from ${source} offset 0) hashed`;

/**
 * The same sums, as the first releases wrote them. Fingerprints contain these: a faster way to the same
 * digest needs no rebuild.
 */
const firstSumsOver = (table: Digested, source: string): string =>
  `select count(*) as rows, coalesce(sum(('x' || left(hash, 16))::bit(64)::bigint), 0) as low,
     coalesce(sum(('x' || right(hash, 16))::bit(64)::bigint), 0) as high
   from (select md5(${rowText(table)}) as hash from ${source}) hashed`;

/** The text of a time depends on the reader’s time zone. */
const FORMS = `set timezone = 'UTC' set datestyle = 'ISO' set intervalstyle = 'postgres'`;

const CHANGES = [
  { operation: 'insert', old: false, new: true },
  { operation: 'update', old: true, new: true },
  { operation: 'delete', old: true, new: false },
] as const;

const statementsFor = (table: Digested, sums = sumsOver): readonly string[] => {
  const { name } = table;
  const zero = 'select 0 as rows, 0 as low, 0 as high';
  return CHANGES.flatMap((change) => {
    const come = change.new ? sums(table, 'came') : zero;
    const gone = change.old ? sums(table, 'went') : zero;
    const keep = sqlName(`keep_digest_of_${name}_on_${change.operation}`);
    const referencing = [change.old && 'old table as went', change.new && 'new table as came']
      .filter(Boolean)
      .join(' ');
    return [
      `create function ${keep}() returns trigger language plpgsql ${FORMS} as $$
       begin
         update digest d set rows = d.rows + c.rows - w.rows, low = d.low + c.low - w.low, high = d.high + c.high - w.high
         from (${come}) c, (${gone}) w where d.name = '${name}';
         return null;
       end $$`,
      `create trigger digest_on_${change.operation} after ${change.operation} on ${name} referencing ${referencing} for each statement
       when (current_setting('annals.projecting', true) = 'on') execute function ${keep}()`,
    ];
  });
};

/** The statements that make a read model keep its digest. */
const keptDigestOf = (tables: Tables): readonly string[] =>
  digestedIn(tables).flatMap((table) => statementsFor(table));

/** Identifies the content of a kept digest, not the way it is computed. */
export const digestFingerprintOf = (tables: Tables): readonly string[] =>
  digestedIn(tables).flatMap((table) => statementsFor(table, firstSumsOver));

const digestedIn = ({ ofStreams, views }: Tables): readonly Digested[] => [...ofStreams, ...views];

/**
 * Computes the digest of the first read model in the search path, and keeps it up to date from then on.
 * Nobody else may write there meanwhile. A fill from a whole log calls it at the end, because rows are
 * written faster without.
 */
export const keepDigest = async (connection: Connection, tables: Tables): Promise<void> => {
  for (const statement of keptDigestOf(tables)) await connection.query(statement);
  await inForm(connection);
  for (const table of digestedIn(tables))
    await connection.query(
      `insert into digest (name, rows, low, high) select '${table.name}', * from (${sumsOver(table, table.name)}) sums`,
    );
};

const inForm = (connection: Connection) =>
  connection.query(
    `set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres'`,
  );

const TEXT = `format('%s rows, %s %s', rows, low, high)`;

/**
 * The kept digest of the live read model, and its position, from one snapshot. Undefined if there is none.
 */
export const readKeptDigest = async (
  database: Pick<Pool | Connection, 'query'>,
): Promise<
  { readonly position: Position; readonly digests: Digests; readonly definition: string } | undefined
> => {
  const found = await database.query<{ isThere: boolean }>(
    `select to_regclass('${LIVE_SCHEMA}.digest') is not null and to_regclass('public.follower_checkpoint') is not null as "isThere"`,
  );
  if (!found.rows[0]?.isThere) return undefined;
  const { rows } = await database.query<{
    position: Position;
    digests: Digests | null;
    definition: string | null;
  }>(
    `select position, nullif(${definitionIn(`'${LIVE_SCHEMA}'`)}, '') as definition,
       (select json_object_agg(name, ${TEXT}) from ${LIVE_SCHEMA}.digest) as digests
     from public.follower_checkpoint where follower = $1`,
    [PROJECTOR],
  );
  const [row] = rows;
  return row?.digests && row.definition !== null
    ? { position: row.position, digests: row.digests, definition: row.definition }
    : undefined;
};

/** Computes the digest of any read model from all of its rows. */
export const computeDigest = (pool: Pool, tables: Tables, schema: string): Promise<Digests> =>
  inTransaction(pool, async (connection) => {
    await connection.query('set transaction isolation level repeatable read, read only');
    return computeDigestOn(connection, tables, schema);
  });

export const computeDigestOn = async (
  connection: Connection,
  tables: Tables,
  schema: string,
): Promise<Digests> => {
  await inForm(connection);
  const digests: Record<string, string> = {};
  for (const table of digestedIn(tables)) {
    const { rows } = await connection.query<{ digest: string }>(
      `select ${TEXT} as digest from (${sumsOver(table, `${schema}.${table.name}`)}) sums`,
    );
    digests[table.name] = rows[0]?.digest ?? '';
  }
  return digests;
};

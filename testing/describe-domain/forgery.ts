import { CHANGED } from '#kernel/rows/view-table.ts';
import { inDatabase } from '../database/search-everywhere.ts';

type Column = { readonly name: string; readonly type: string };
export type Table = {
  readonly table: string;
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly keys: readonly string[];
};
/** With more, a verification would list the rows of fewer tables. */
export const ROWS_MAX = 5;

export type Forgery = AsyncDisposable & {
  readonly table: Table;
  readonly columns: readonly string[];
  readonly rows: number;
};

/** Its disposal reverts it. */
export const forge = async (url: string, of: Table): Promise<Forgery> => {
  const { table, values, keys } = of;
  const stored = await columnsOf(url, table);
  const names = stored.map(({ name }) => name).join();
  const kept = `public.kept_${table.split('.')[1]}`;
  // The column that streams follow carries no content, and changes in a rebuild.
  const columns = stored.filter(({ name }) => name !== CHANGED);
  const places = await inDatabase(url, async (client) => {
    await client.query(`create table ${kept} as select ${names} from ${table}`);
    const { rows } = await client.query<{ ctid: string }>(
      `select ctid::text from ${table} order by 1 limit ${ROWS_MAX}`,
    );
    const all = placesFor(rows, columns, keys);
    for (const { ctid, changed } of all) {
      const set = changed.map(({ name, type }) => `${name} = ${otherIn(values, name, type)}`);
      await client.query(`update ${table} set ${set.join(', ')} where ctid = '${ctid}'`);
    }
    return all;
  });
  return {
    table: of,
    columns: places.flatMap(({ changed }) => changed.map(({ name }) => name)),
    rows: places.length,
    [Symbol.asyncDispose]: () =>
      inDatabase(url, async (client) => {
        await client.query(`delete from ${table}`);
        await client.query(`insert into ${table} (${names}) select ${names} from ${kept}`);
        await client.query(`drop table ${kept}`);
      }),
  };
};

type Forged = { readonly ctid: string; readonly changed: readonly Column[] };
/**
 * Assigns every column to a row: each key to a row in which nothing else is changed, as long as there are
 * rows, and the others in turn.
 */
const placesFor = (
  rows: readonly { readonly ctid: string }[],
  columns: readonly Column[],
  keys: readonly string[],
): readonly Forged[] => {
  const isKey = ({ name }: Column): boolean => keys.includes(name);
  const ofKeys = columns.filter(isKey);
  const others = columns.filter((each) => !isKey(each));
  const forKeys = rows.slice(0, Math.min(ofKeys.length, rows.length - 1));
  const rest = rows.slice(forKeys.length);
  return [
    ...forKeys.map(({ ctid }, index) => ({ ctid, changed: ofKeys.slice(index, index + 1) })),
    ...rest.map(({ ctid }, index) => ({
      ctid,
      changed: others.filter((_, place) => place % rest.length === index),
    })),
  ].filter(({ changed }) => changed.length > 0);
};

const columnsOf = (url: string, table: string): Promise<readonly Column[]> =>
  inDatabase(url, async (client) => {
    const { rows } = await client.query<Column>(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
      [table],
    );
    return rows;
  });

const otherIn = (values: ReadonlyMap<string, readonly string[]>, name: string, type: string): string => {
  const words = values.get(name);
  if (words === undefined) return otherThan(name, type);
  const next = words.map((word, index) => `when '${word}' then '${words[(index + 1) % words.length]}'`);
  return `case ${name} ${next.join(' ')} end`;
};

/** Another value of the same type than a column has, in SQL. */
export const otherThan = (column: string, type: string): string => {
  if (type.endsWith('[]')) return `coalesce(${column}, '{}') || '{forged}'`;
  if (/int|numeric/.test(type)) return `coalesce(${column}, 0) + 100000`;
  if (type.startsWith('timestamp')) return `coalesce(${column}, now()) + interval '1 day'`;
  if (type === 'date') return `coalesce(${column}, current_date) + 1`;
  if (type === 'boolean') return `not coalesce(${column}, false)`;
  if (type === 'bytea') return `'\\x01'`;
  if (type === 'jsonb') return `coalesce(${column}, '{}') || '{"forged": 1}'`;
  return `coalesce(${column}, '') || ' forged'`;
};

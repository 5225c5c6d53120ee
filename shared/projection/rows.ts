import { type Change, combine, type Row, type Table } from '#kernel/rows/change.ts';
import type { Sender } from '#shared/database/prepared.ts';
import type { ProjectedItems } from '#shared/read-model/tables.ts';
import { doubtfulAmong } from './doubtful.ts';
import { noteRemoved, removalOf, returnOf } from './removed.ts';

type Folded<Column extends string> = {
  readonly changes: readonly Change<Column>[];
  /**
   * The rows with values that are not written: because a later change of the batch overwrites them, or
   * because no such row exists.
   */
  readonly unwritten: readonly object[];
  /** The last state of rows that one batch created and deleted. */
  readonly vanished: readonly Row<Column>[];
};

/** Folds the changes of each row into one, so that a batch writes each row once. */
const fold = <Column extends string>(changes: readonly Change<Column>[]): Folded<Column> => {
  const folded: Change<Column>[] = [];
  const unwritten: object[] = [];
  const vanished: Row<Column>[] = [];
  for (const [first, ...others] of Map.groupBy(changes, ({ row }) => row.id).values()) {
    if (first === undefined) continue;
    let all = first;
    let last: Row<Column> | undefined;
    for (const change of others) {
      if (all.kind === 'put' && change.kind === 'drop') last = all.row;
      if (change.kind === 'put') last = undefined;
      all = combine(all, change);
      unwritten.push(change.row);
    }
    if (first.kind === 'patch' || others.length > 0) unwritten.push(first.row);
    if (last !== undefined) vanished.push(last);
    folded.push(all);
  }
  return { changes: folded, unwritten, vanished };
};

/**
 * Columns of a table that are computed from the items of some aggregates, in a list whose items are written
 * by then.
 */
export type Following = { readonly ids: ReadonlySet<unknown>; readonly list: ProjectedItems };

/** Writes the items of aggregates in between; those of `made` exist once the rows are written. */
type Between = (made: ReadonlySet<unknown>) => Promise<readonly Following[]>;
const NOTHING: Between = async () => [];

/**
 * Writes folded changes with one statement for each kind and each set of columns; an older version never
 * overwrites a newer one. Writes rows after their items, so that columns computed from those need no second
 * write.
 */
export const write = async <Column extends string>(
  connection: Sender,
  table: Table<Column>,
  changes: readonly Change<Column>[],
  between = NOTHING,
): Promise<void> => {
  const { changes: folded, unwritten, vanished } = fold(changes);
  await demandValues(connection, table, unwritten);
  const send = async (some: readonly Change<Column>[], following: readonly Following[]) => {
    for (const { kind, given, follow, rows } of grouped(table, some, following))
      await connection.query(statementOf(table, kind, { given, follow }), [...valuesOf(given, rows)]);
  };
  const { drop = [], put = [], patch = [] } = Object.groupBy(folded, ({ kind }) => kind);
  await send(drop, []);
  const following = await between(new Set(put.map(({ row }) => row.id)));
  await send([...put, ...patch], following);
  await noteRemoved(connection, table, vanished);
};

type Group<Column extends string> = {
  readonly kind: Change<Column>['kind'];
  readonly given: readonly string[];
  readonly follow: readonly ProjectedItems[];
  readonly rows: object[];
};

/** By kind of change, and by columns. */
export const grouped = <Column extends string>(
  table: Table<Column>,
  changes: readonly Change<Column>[],
  following: readonly Following[] = [],
): Iterable<Group<Column>> => {
  const columns = Object.keys(table.columns);
  const alike = new Map<string, Group<Column>>();
  for (const { kind, row } of changes) {
    const follow = following.flatMap(({ ids, list }) => (ids.has(row.id) ? [list] : []));
    const followed = new Set(follow.flatMap(({ derived }) => derived.map(({ column }) => column)));
    // In the table’s order, so that equal sets of columns make equal statements.
    const given = columns.filter((column) => column in row && !followed.has(column));
    const key = `${kind} ${given.join()} ${follow.map(({ name }) => name).join()}`;
    const group = alike.get(key);
    if (group) group.rows.push(row);
    else alike.set(key, { kind, given, follow, rows: [row] });
  }
  return alike.values();
};

/**
 * Lets the database check values that are never written: overwritten ones, and those of absent rows. It must
 * refuse a batch exactly if it would refuse one of its events; so the tables check values only by their
 * types.
 */
export const demandValues = async (
  connection: Sender,
  { columns }: { readonly columns: Readonly<Record<string, string>> },
  unwritten: readonly object[],
): Promise<void> => {
  const doubtful = doubtfulAmong(columns, unwritten as readonly Readonly<Record<string, unknown>>[]);
  if (doubtful.length === 0) return;
  // Every decoded text is valid for PostgreSQL too.
  const checked = Object.keys(columns).filter((column) => columns[column] !== 'text');
  // The database evaluates only columns that are counted.
  const counted = checked.map((column) => `count(${column})`).join(', ');
  await connection.query(`select ${counted} from ${sourceOf({ columns }, checked)}`, [
    ...valuesOf(checked, doubtful),
  ]);
};

/** The rows of a statement, named p, from a parameter for each column. */
export const sourceOf = (
  { columns }: { readonly columns: Readonly<Record<string, string>> },
  given: readonly string[],
): string => {
  const typed = given.map((column) => `${column}::${columns[column]}`).join(', ');
  const read = given.map((_, index) => `json_array_elements_text($${index + 1})`).join(', ');
  return `(select ${typed} from rows from (${read}) as given (${given.join(', ')})) p`;
};

/** Column by column, because PostgreSQL parses that in less time than objects that repeat their names. */
export const valuesOf = (given: readonly string[], rows: readonly object[]): readonly string[] =>
  given.map((column) =>
    JSON.stringify(rows.map((row) => textOf((row as Readonly<Record<string, unknown>>)[column]))),
  );

/** An array is one value of its column, and an absent value is null. */
const textOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? `{${value.map((each) => `"${String(each).replaceAll(/["\\]/g, '\\$&')}"`).join()}}`
    : value;

/** The columns computed from the present items of a row; an index finds the items of each. */
const followingOf = (follow: readonly ProjectedItems[]): string =>
  follow
    .map(({ name, key, derived }, index) => {
      const values = derived.map(({ column, sql }) => `${sql} as ${column}`).join(', ');
      return ` cross join lateral (select ${values} from ${name} i where i.${key[0]} = p.id) f${index}`;
    })
    .join('');

type Written = { readonly given: readonly string[]; readonly follow: readonly ProjectedItems[] };

const statementOf = <Column extends string>(
  table: Table<Column>,
  kind: Change<Column>['kind'],
  { given, follow }: Written,
): string => {
  const { name } = table;
  const source = `${sourceOf(table, given)}${followingOf(follow)}`;
  const values = [
    ...given.map((column) => ({ column, value: `p.${column}` })),
    ...follow.flatMap(({ derived }, index) =>
      derived.map(({ column }) => ({ column, value: `f${index}.${column}` })),
    ),
  ];
  const others = values.filter(({ column }) => column !== 'id');
  switch (kind) {
    case 'put': {
      const list = values.map(({ column }) => column).join(', ');
      const set = others.map(({ column }) => `${column} = excluded.${column}`).join(', ');
      const rows = `select ${values.map(({ value }) => value).join(', ')} from ${source}`;
      return returnOf(
        table,
        `insert into ${name} as t (${list}) ${rows} on conflict (id) do update set ${set} where t.version < excluded.version`,
      );
    }
    case 'patch': {
      const set = others.map(({ column, value }) => `${column} = ${value}`).join(', ');
      return `update ${name} t set ${set} from ${source} where t.id = p.id and t.version < p.version`;
    }
    case 'drop':
      return removalOf(
        table,
        `delete from ${name} t using ${source} where t.id = p.id and t.version < p.version`,
      );
  }
};

import type { Connection } from '#shared/database/pool.ts';
import { type Change, combine, type Row, type Table } from '#shared/read-model/change.ts';
import { noteRemoved, removalOf, returnOf } from './removed.ts';

type Folded<Column extends string> = {
  readonly changes: readonly Change<Column>[];
  /** The values that are not written because of another change of the same batch. */
  readonly covered: readonly Partial<Row<Column>>[];
  /** What was made and deleted in the same batch, as it was last. */
  readonly vanished: readonly Row<Column>[];
};

/** Folds the changes of each row into one, so that a batch writes each row once. */
const fold = <Column extends string>(changes: readonly Change<Column>[]): Folded<Column> => {
  const folded = new Map<number, Change<Column>>();
  const covered: Partial<Row<Column>>[] = [];
  const vanished = new Map<number, Row<Column>>();
  for (const change of changes) {
    const id = change.row.id as number;
    const earlier = folded.get(id);
    folded.set(id, earlier ? combine(earlier, change) : change);
    if (earlier) covered.push(coveredBy(earlier, change));
    if (earlier?.kind === 'put' && change.kind === 'drop') vanished.set(id, earlier.row);
    if (change.kind === 'put') vanished.delete(id);
  }
  return { changes: [...folded.values()], covered, vanished: [...vanished.values()] };
};

const coveredBy = <Column extends string>(earlier: Change<Column>, later: Change<Column>): Partial<Row<Column>> => {
  if (later.kind !== 'patch') return earlier.row as Partial<Row<Column>>;
  if (earlier.kind === 'drop') return later.row;
  return Object.fromEntries(Object.entries(earlier.row).filter(([column]) => column in later.row)) as Partial<Row<Column>>;
};

/** Writes folded changes with one statement for each kind and each set of columns; an older version never overwrites a newer one. */
export const write = async <Column extends string>(
  connection: Connection,
  table: Table<Column>,
  changes: readonly Change<Column>[],
): Promise<void> => {
  const folded = fold(changes);
  await demandValues(connection, table, unwrittenIn(folded));
  for (const { kind, given, rows } of grouped(table, folded.changes)) {
    await connection.query(statementOf(table, kind, given), [JSON.stringify(rows)]);
  }
  await noteRemoved(connection, table, folded.vanished);
};

type Group<Column extends string> = { readonly kind: Change<Column>['kind']; readonly given: readonly string[]; readonly rows: unknown[] };

/** By what each does, and to which columns. */
export const grouped = <Column extends string>(table: Table<Column>, changes: readonly Change<Column>[]): Iterable<Group<Column>> => {
  const alike = new Map<string, Group<Column>>();
  for (const { kind, row } of changes) {
    // In the table's order, so that equal sets of columns make equal statements.
    const given = Object.keys(table.columns).filter((column) => column in row);
    const key = `${kind} ${given.join()}`;
    const group = alike.get(key);
    if (group) group.rows.push(row);
    else alike.set(key, { kind, given, rows: [row] });
  }
  return alike.values();
};

/** What no statement writes: what is covered up, and what is for rows that are not there. */
const unwrittenIn = <Column extends string>({ changes, covered }: Folded<Column>): readonly object[] => [
  ...covered,
  ...changes.flatMap(({ kind, row }) => (kind === 'patch' ? [row] : [])),
];

/**
 * Shows the database what it may not look at otherwise: values that are covered up, and those for rows that are not there. It must
 * refuse a batch exactly where it would refuse one of its events; so the tables check no values except by their types.
 */
export const demandValues = async (
  connection: Connection,
  { columns }: { readonly columns: Readonly<Record<string, string>> },
  unwritten: readonly object[],
): Promise<void> => {
  if (unwritten.length === 0) return;
  // Every text that was decoded is one for PostgreSQL too.
  const checked = Object.keys(columns).filter((column) => columns[column] !== 'text');
  await connection.query(`select from ${sourceOf({ columns }, checked)}`, [JSON.stringify(unwritten, checked)]);
};

export const sourceOf = ({ columns }: { readonly columns: Readonly<Record<string, string>> }, given: readonly string[]): string =>
  `json_to_recordset($1) as p (${given.map((column) => `${column} ${columns[column]}`).join(', ')})`;

const statementOf = <Column extends string>(table: Table<Column>, kind: Change<Column>['kind'], given: readonly string[]): string => {
  const { name } = table;
  const source = sourceOf(table, given);
  switch (kind) {
    case 'put': {
      const list = given.join(', ');
      const set = given.filter((column) => column !== 'id').map((column) => `${column} = excluded.${column}`);
      return returnOf(
        table,
        `insert into ${name} as t (${list}) select ${list} from ${source} on conflict (id) do update set ${set.join(', ')} where t.version < excluded.version`,
      );
    }
    case 'patch': {
      const set = given.filter((column) => column !== 'id').map((column) => `${column} = p.${column}`);
      return `update ${name} t set ${set.join(', ')} from ${source} where t.id = p.id and t.version < p.version`;
    }
    case 'drop':
      return removalOf(table, `delete from ${name} t using ${source} where t.id = p.id and t.version < p.version`);
  }
};

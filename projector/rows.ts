import type { Connection } from '#shared/database/pool.ts';

/** A table of the read model: its columns with their SQL types, `id` and `version` among them. */
export type Table<Column extends string> = { readonly name: string; readonly columns: Readonly<Record<Column | 'id' | 'version', string>> };

type Row<Column extends string> = Readonly<Record<Column | 'id' | 'version', unknown>>;

/** What an event does to one row. */
export type Change<Column extends string> =
  | { readonly kind: 'put'; readonly row: Row<Column> }
  | { readonly kind: 'patch'; readonly row: Partial<Row<Column>> & { readonly id: number; readonly version: number } }
  | { readonly kind: 'drop'; readonly row: { readonly id: number; readonly version: number } };

/** Folds the changes of each row into one, so that a batch writes each row once. */
const fold = <Column extends string>(changes: readonly Change<Column>[]): readonly Change<Column>[] => {
  const folded = new Map<unknown, Change<Column>>();
  for (const change of changes) {
    const earlier = folded.get(change.row.id);
    folded.set(change.row.id, earlier ? combine(earlier, change) : change);
  }
  return [...folded.values()];
};

const combine = <Column extends string>(earlier: Change<Column>, later: Change<Column>): Change<Column> => {
  if (later.kind !== 'patch' || earlier.kind === 'drop') return later;
  return { kind: earlier.kind, row: { ...earlier.row, ...later.row } } as Change<Column>;
};

/** Writes folded changes with one statement for each kind and each set of columns; an older version never overwrites a newer one. */
export const write = async <Column extends string>(
  connection: Connection,
  table: Table<Column>,
  changes: readonly Change<Column>[],
): Promise<void> => {
  const statements = new Map<string, unknown[]>();
  for (const change of fold(changes)) {
    const sql = statementOf(table, change);
    const rows = statements.get(sql);
    if (rows) rows.push(change.row);
    else statements.set(sql, [change.row]);
  }
  for (const [sql, rows] of statements) await connection.query(sql, [JSON.stringify(rows)]);
};

const statementOf = <Column extends string>({ name, columns }: Table<Column>, { kind, row }: Change<Column>): string => {
  const types: Readonly<Record<string, string>> = columns;
  // In the table's order, so that equal sets of columns make equal statements.
  const given = Object.keys(types).filter((column) => column in row);
  const source = `json_to_recordset($1) as p (${given.map((column) => `${column} ${types[column]}`).join(', ')})`;
  switch (kind) {
    case 'put': {
      const list = given.join(', ');
      const set = given.filter((column) => column !== 'id').map((column) => `${column} = excluded.${column}`);
      return `insert into ${name} as t (${list}) select ${list} from ${source} on conflict (id) do update set ${set.join(', ')} where t.version < excluded.version`;
    }
    case 'patch': {
      const set = given.filter((column) => column !== 'id').map((column) => `${column} = p.${column}`);
      return `update ${name} t set ${set.join(', ')} from ${source} where t.id = p.id and t.version < p.version`;
    }
    case 'drop':
      return `delete from ${name} t using ${source} where t.id = p.id and t.version < p.version`;
  }
};

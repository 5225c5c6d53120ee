import type { ShareChange } from '#kernel/rows/shares.ts';
import type { Sender } from '#shared/database/prepared.ts';
import type { ProjectedShares } from '#shared/read-model/view-tables.ts';
import { demandValues, sourceOf, valuesOf } from './rows.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Writes the changes of a batch to the shares of a view: each share once, with one statement for each kind of
 * change and each set of columns. Triggers then update the sums of the view, once for each key of a
 * statement.
 */
export const writeShares = async (
  connection: Sender,
  table: ProjectedShares,
  changes: readonly ShareChange[],
): Promise<void> => {
  if (changes.length === 0) return;
  const { folded, unwritten } = fold(changes);
  await demandValues(connection, table, unwritten);
  for (const { kind, given, added, rows } of grouped(table, folded))
    await connection.query(statementOf(table, kind, { given, added }), [
      ...valuesOf([...given, ...added.map((each) => ADDED + each)], rows),
    ]);
};

type Folded = { readonly folded: readonly ShareChange[]; readonly unwritten: readonly Values[] };

const fold = (changes: readonly ShareChange[]): Folded => {
  const folded: ShareChange[] = [];
  const unwritten: Values[] = [];
  for (const [first, ...others] of Map.groupBy(changes, ({ row }) => row.id).values()) {
    if (first === undefined) continue;
    if (first.kind === 'patch' || others.length > 0)
      unwritten.push(first.row, ...others.map(({ row }) => row));
    folded.push(others.reduce(combined, first));
  }
  return { folded, unwritten };
};

/** Combines two changes of one share. */
const combined = (earlier: ShareChange, later: ShareChange): ShareChange => {
  if (later.kind !== 'patch') return later;
  // A removed share cannot change.
  if (earlier.kind === 'drop')
    return { kind: 'drop', row: { id: earlier.row.id, version: later.row.version }, added: {} };
  const row: Record<string, unknown> = { ...earlier.row, ...later.row };
  const added: Record<string, number> = {};
  for (const [name, value] of Object.entries(earlier.added)) if (!(name in later.row)) added[name] = value;
  for (const [name, value] of Object.entries(later.added)) {
    if (name in row) row[name] = Number(row[name]) + value;
    else added[name] = (added[name] ?? 0) + value;
  }
  return { kind: earlier.kind, row, added };
};

type Group = {
  readonly kind: ShareChange['kind'];
  readonly given: readonly string[];
  readonly added: readonly string[];
  readonly rows: Values[];
};

/** Prefixes the increment of a column, in place of its value. */
const ADDED = 'added_';

const grouped = ({ columns }: ProjectedShares, changes: readonly ShareChange[]): Iterable<Group> => {
  const names = Object.keys(columns);
  const alike = new Map<string, Group>();
  for (const { kind, row, added } of changes) {
    const [given, sums] = [names.filter((name) => name in row), names.filter((name) => name in added)];
    const key = `${kind} ${given.join()} ${sums.join()}`;
    const group = alike.get(key) ?? { kind, given, added: sums, rows: [] };
    alike.set(key, group);
    group.rows.push({ ...row, ...Object.fromEntries(sums.map((name) => [ADDED + name, added[name]])) });
  }
  return alike.values();
};

const statementOf = (
  table: ProjectedShares,
  kind: ShareChange['kind'],
  { given, added }: Pick<Group, 'given' | 'added'>,
): string => {
  const { name, columns } = table;
  const withAdded = { ...columns, ...Object.fromEntries(added.map((each) => [ADDED + each, 'numeric'])) };
  const source = sourceOf({ columns: withAdded }, [...given, ...added.map((each) => ADDED + each)]);
  const values = given.filter((column) => column !== 'id');
  switch (kind) {
    case 'put': {
      const list = given.join(', ');
      const set = values.map((column) => `${column} = excluded.${column}`).join(', ');
      return `insert into ${name} as t (${list}) select ${list} from ${source} on conflict (id) do update set ${set} where t.version < excluded.version`;
    }
    case 'patch': {
      const set = [
        ...values.map((column) => `${column} = p.${column}`),
        ...added.map((each) => `${each} = t.${each} + p.${ADDED}${each}`),
      ];
      return `update ${name} t set ${set.join(', ')} from ${source} where t.id = p.id and t.version < p.version`;
    }
    case 'drop':
      return `delete from ${name} t using ${source} where t.id = p.id and t.version < p.version`;
  }
};

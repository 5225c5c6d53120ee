import { type Change, combine, type ItemChange } from '#kernel/rows/change.ts';
import type { ItemTable } from '#kernel/rows/items.ts';
import type { Sender } from '#shared/database/prepared.ts';
import type { ProjectedItems } from '#shared/read-model/tables.ts';
import { demandValues, grouped, sourceOf, valuesOf } from './rows.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Writes the changes of a batch to the items of a list, before the rows of their aggregates: each item once,
 * with one statement for each kind of change and each set of columns. Items need their aggregate: those of
 * `made` follow. Returns the aggregates whose items were written.
 */
export const writeItems = async (
  connection: Sender,
  table: ProjectedItems,
  changes: readonly ItemChange[],
  made: ReadonlySet<unknown>,
): Promise<ReadonlySet<unknown>> => {
  if (changes.length === 0) return NONE;
  const [of] = table.key;
  const { cleared, folded, unwritten } = fold(table, changes);
  const isMade = ({ row }: Change) => made.has((row as Values)[of]);
  // Items of absent aggregates are not written.
  const uncertain = folded.flatMap((change) => (isMade(change) ? [] : [change.row]));
  await demandValues(connection, table, [...unwritten, ...uncertain]);
  if (cleared.length > 0) await connection.query(clearing(table), [...valuesOf([of, 'version'], cleared)]);
  for (const isCertain of [true, false])
    for (const { kind, given, rows } of grouped(
      table,
      folded.filter((change) => isMade(change) === isCertain),
    ))
      await connection.query(statementOf(table, kind, { given, isCertain }), [...valuesOf(given, rows)]);
  return new Set(folded.map(({ row }) => (row as Values)[of]));
};

const NONE: ReadonlySet<unknown> = new Set();

type Folded = {
  readonly cleared: readonly Values[];
  readonly folded: readonly Change[];
  /** Values that the database would not check otherwise. */
  readonly unwritten: readonly Values[];
};

/** Events after the end of an aggregate, which decides nothing any more, are taken as they are. */
const fold = ({ key: [of, id] }: ItemTable, changes: readonly ItemChange[]): Folded => {
  const cleared = new Map<unknown, Values>();
  const items = new Map<unknown, Map<unknown, Change>>();
  const unwritten: Values[] = [];
  for (const change of changes) {
    const row: Values = change.row;
    if (change.kind === 'clear') {
      unwritten.push(...[...(items.get(row[of])?.values() ?? [])].map((each) => each.row as Values));
      items.delete(row[of]);
      cleared.set(row[of], row);
      continue;
    }
    const ofOne = items.get(row[of]) ?? new Map<unknown, Change>();
    items.set(row[of], ofOne);
    const earlier = ofOne.get(row[id]);
    if (earlier !== undefined) unwritten.push(earlier.row as Values);
    ofOne.set(row[id], earlier === undefined ? change : combined(earlier, change, [of, id]));
  }
  const folded = [...items.values()].flatMap((ofOne) => [...ofOne.values()]);
  return {
    cleared: [...cleared.values()],
    folded,
    unwritten: [
      ...unwritten,
      ...folded.flatMap(({ kind, row }) => (kind === 'patch' ? [row as Values] : [])),
    ],
  };
};

/** A removed item keeps its key. */
const combined = (earlier: Change, later: Change, key: ItemTable['key']): Change => {
  const both = combine(earlier, later);
  return both.kind === 'drop'
    ? ({ ...both, row: { ...both.row, ...pick(later.row as Values, key) } } as Change)
    : both;
};
const pick = (row: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.map((name) => [name, row[name]]));

const clearing = (table: ItemTable): string => {
  const [of] = table.key;
  return `delete from ${table.name} t using ${sourceOf(table, [of, 'version'])} where t.${of} = p.${of} and t.version < p.version`;
};

type Written = { readonly given: readonly string[]; readonly isCertain: boolean };

const statementOf = (table: ItemTable, kind: Change['kind'], { given, isCertain }: Written): string => {
  const { name, key, of } = table;
  const source = sourceOf(table, given);
  const isSame = key.map((column) => `t.${column} = p.${column}`).join(' and ');
  const values = given.filter((column) => !key.includes(column));
  switch (kind) {
    case 'put': {
      const list = given.join(', ');
      const set = values.map((column) => `${column} = excluded.${column}`).join(', ');
      const isThere = isCertain ? '' : ` where exists (select from ${of} a where a.id = p.${key[0]})`;
      return `insert into ${name} as t (${list}) select ${list} from ${source}${isThere}
        on conflict (${key.join(', ')}) do update set ${set} where t.version < excluded.version`;
    }
    case 'patch':
      return `update ${name} t set ${values.map((column) => `${column} = p.${column}`).join(', ')} from ${source} where ${isSame} and t.version < p.version`;
    case 'drop':
      return `delete from ${name} t using ${source} where ${isSame} and t.version < p.version`;
  }
};

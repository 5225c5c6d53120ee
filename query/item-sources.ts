import { oneOfList } from '#kernel/decide/items.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import { column, targetOf } from '#kernel/registry/names.ts';
import type { Domain, Kind, ListInfo } from '#kernel/registry/registry.ts';
import { itemTableOf } from '#kernel/rows/items.ts';
import type { Pool } from '#shared/database/pool.ts';
import { notFound, type RejectionCode } from '#shared/rejection.ts';
import type { ItemGap } from './lists/item-cursor.ts';
import type { Member, Row } from './sources.ts';
import { Parameters, runShared } from './statement.ts';

type OrderColumn = { readonly name: string; readonly type: 'text' | 'bigint' };

/** How the items of one list are read, by whatever reads them: what follows from the declaration, once. */
export type ItemSource = {
  readonly kind: Kind;
  readonly list: ListInfo;
  readonly table: string;
  /** The column of the aggregate. */
  readonly of: string;
  /** With what tells an item from the others first, if that is a field. */
  readonly members: readonly Member[];
  /** What items are ordered by: no two of a list have the same of the last one. */
  readonly order: readonly OrderColumn[];
  /** What is answered if there is no such item. */
  readonly absent: RejectionCode;
};

/** The lists of a kind. */
export const itemSourcesOf = (domain: Domain, kind: Kind): readonly ItemSource[] =>
  Object.values(kind.lists).map((list) => {
    const { name, key } = itemTableOf(kind, list);
    const { key: keyed, id, fields, isOrdered } = list;
    const all: readonly (readonly [string, FieldDef])[] = [
      ...(keyed === undefined ? [] : [[keyed, id.def] as const]),
      ...Object.entries(fields),
    ];
    return {
      kind,
      list,
      table: `read_model.${name}`,
      of: key[0],
      members: all.map(([field, def]) => ({
        name: field,
        def,
        column: column(field, def),
        target: def.kind === 'ref' ? domain.kinds[targetOf(def)] : undefined,
        guard: undefined,
      })),
      order: [
        ...(isOrdered ? [{ name: 'rank', type: 'text' } as const] : []),
        { name: id.column, type: id.def.column === 'text' ? 'text' : 'bigint' },
      ],
      absent: notFound(oneOfList(kind, list)),
    };
  });

/** What else is read with each item, joined to the row i. */
export type Joins = { readonly columns: string; readonly joins: string };
const NOTHING_ELSE: Joins = { columns: '', joins: '' };

/** Which items of a list are asked for. */
export type AskedItems = {
  /** Nothing beyond these places, which are left out themselves. */
  readonly after: ItemGap | undefined;
  readonly before: ItemGap | undefined;
  /** Whether the items at the end are asked for. */
  readonly isBackward: boolean;
  readonly rowsMax: number;
};

/** The items of each aggregate, nearest first: from the end, where the end was asked for. */
export const listItems = async (
  pool: Pool,
  { table, of, order }: ItemSource,
  { of: parents, asked, joined = NOTHING_ELSE }: { readonly of: readonly number[]; readonly asked: AskedItems; readonly joined?: Joins },
): Promise<ReadonlyMap<number, readonly Row[]>> => {
  const parameters = new Parameters();
  const ids = parameters.add(parents);
  const places = [placeCondition(order, asked.after, '>', parameters), placeCondition(order, asked.before, '<', parameters)].join('');
  const ordered = (row: string): string => order.map(({ name }) => `${row}.${name} ${asked.isBackward ? 'desc' : 'asc'}`).join(', ');
  const text = `select x.* from unnest(${ids}::bigint[]) as p (id) cross join lateral (
    select i.*${joined.columns} from ${table} i${joined.joins} where i.${of} = p.id${places}
    order by ${ordered('i')} limit ${parameters.add(asked.rowsMax)}::bigint) x order by ${ordered('x')}`;
  return Map.groupBy(await runShared<Row>(pool, text, parameters.values), (row) => row[of] as number);
};

const placeCondition = (order: ItemSource['order'], gap: ItemGap | undefined, comparison: '<' | '>', parameters: Parameters): string => {
  if (gap === undefined) return '';
  const values = valuesOf(gap);
  const given = order.map(({ type }, index) => `${parameters.add(values[index])}::${type}`);
  return ` and (${order.map(({ name }) => `i.${name}`).join(', ')}) ${comparison} (${given.join(', ')})`;
};

/** In the columns of the order. */
export const valuesOf = ({ rank, id }: ItemGap): readonly (string | number)[] => (rank === undefined ? [id] : [rank, id]);

/** Where an item is. */
export const gapOf = ({ order }: ItemSource, row: Row): ItemGap => {
  const [id, rank] = order.toReversed().map(({ name }) => row[name]);
  return { ...(rank !== undefined && { rank: String(rank) }), id: id as ItemGap['id'] };
};

export const countItems = async (
  pool: Pool,
  { table, of }: ItemSource,
  parents: readonly number[],
): Promise<ReadonlyMap<number, number>> => {
  const text = `select ${of} as "of", count(*)::integer as count from ${table} where ${of} = any($1::bigint[]) group by ${of}`;
  const rows = await runShared<{ readonly of: number; readonly count: number }>(pool, text, [parents]);
  return new Map(rows.map(({ of: parent, count }) => [parent, count]));
};

/** One item of an aggregate, by what tells it apart. */
export const findItem = async (
  pool: Pool,
  { table, of, list }: ItemSource,
  { of: parent, id, joined = NOTHING_ELSE }: { readonly of: number; readonly id: number | string; readonly joined?: Joins },
): Promise<Row | undefined> => {
  const isIt = `i.${of} = $1::bigint and i.${list.id.column} = $2::${list.id.def.column}`;
  const [row] = await runShared<Row>(pool, `select i.*${joined.columns} from ${table} i${joined.joins} where ${isIt}`, [parent, id]);
  return row;
};

import type { Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import type { Joins } from '../lists/item-rows.ts';
import { readableRows } from '../rows/rights.ts';
import type { Row } from '../rows/sources.ts';
import { Parameters, runShared } from '../rows/statement.ts';
import type { OrderColumn, ViewSource } from './source.ts';

/** The rows of a view to read. */
type Narrowed = {
  /** By column. */
  readonly equal: Readonly<Record<string, unknown>>;
  /** Omits rows without a value in this column. */
  readonly present: string | undefined;
};
export type AskedRows = Narrowed & {
  /** The columns of the order, the key last. */
  readonly order: readonly OrderColumn[];
  readonly isDescending: boolean;
  /** True reads from the end. */
  readonly isBackward: boolean;
  /** Exclusive bounds, as texts of the columns of the order. */
  readonly after: readonly string[] | undefined;
  readonly before: readonly string[] | undefined;
  readonly rowsMax: number;
};

export const NO_JOINS: Joins = { columns: '', joins: '' };

const narrowing = (
  source: ViewSource,
  caller: Caller,
  { equal, present }: Narrowed,
  parameters: Parameters,
): readonly string[] => [
  ...readableRows(caller, { kind: source.view.asked, right: source.right, parent: undefined }, parameters),
  ...Object.entries(equal).map(([name, value]) => `t.${name} = ${parameters.add(value)}`),
  ...(present === undefined ? [] : [`t.${present} is not null`]),
];

const where = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;

/** The rows that the caller may read, nearest first: from the end if `isBackward`. */
export const listViewRows = (
  pool: Pool,
  source: ViewSource,
  caller: Caller,
  { asked, joined }: { readonly asked: AskedRows; readonly joined: Joins },
): Promise<readonly Row[]> => {
  const { order, isDescending, isBackward, after, before, rowsMax } = asked;
  const parameters = new Parameters();
  const columns = order.map(({ name }) => `t.${name}`).join(', ');
  const beyond = (position: readonly string[] | undefined, comparison: '<' | '>'): readonly string[] =>
    position === undefined
      ? []
      : [
          `(${columns}) ${comparison} (${order.map(({ type }, index) => `${parameters.add(position[index])}::${type}`).join(', ')})`,
        ];
  const conditions = [
    ...narrowing(source, caller, asked, parameters),
    ...beyond(after, isDescending ? '<' : '>'),
    ...beyond(before, isDescending ? '>' : '<'),
  ];
  const direction = isDescending === isBackward ? 'asc' : 'desc';
  const ordered = (row: string): string => order.map(({ name }) => `${row}.${name} ${direction}`).join(', ');
  const places = order.map(({ name }, index) => `t.${name}::text as place_${index}`).join(', ');
  const page = `select t.*, ${places} from ${source.table} t${where(conditions)} order by ${ordered('t')} limit ${parameters.add(rowsMax)}::bigint`;
  const text = `select i.*${joined.columns} from (${page}) i${joined.joins} order by ${ordered('i')}`;
  return runShared<Row>(pool, text, parameters.values);
};

export const countViewRows = async (
  pool: Pool,
  source: ViewSource,
  caller: Caller,
  narrowed: Narrowed,
): Promise<number> => {
  const parameters = new Parameters();
  const conditions = narrowing(source, caller, narrowed, parameters);
  const text = `select count(*)::integer as count from ${source.table} t${where(conditions)}`;
  const [row] = await runShared<{ readonly count: number }>(pool, text, parameters.values);
  return row?.count ?? 0;
};

/** The position of a row in the order, as texts with the full precision of the database. */
export const rowPositionOf = (row: Row, { length }: readonly OrderColumn[]): readonly string[] =>
  Array.from({ length }, (_, index) => String(row[`place_${index}`]));

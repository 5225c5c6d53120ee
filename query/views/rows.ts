import type { Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import type { Joins } from '../item-rows.ts';
import { readableRows } from '../rights.ts';
import type { Row } from '../sources.ts';
import { Parameters, runShared } from '../statement.ts';
import type { OrderColumn, ViewSource } from './source.ts';

/** Which rows of a view are asked for. */
type Narrowed = {
  /** By columns. */
  readonly equal: Readonly<Record<string, unknown>>;
  /** Rows without a value there are left out. */
  readonly present: string | undefined;
};
export type AskedRows = Narrowed & {
  /** By what they are ordered, the key last. */
  readonly order: readonly OrderColumn[];
  readonly isDescending: boolean;
  /** Whether the rows at the end are asked for. */
  readonly isBackward: boolean;
  /** Nothing beyond these rows, by their texts in the columns of the order. */
  readonly after: readonly string[] | undefined;
  readonly before: readonly string[] | undefined;
  readonly rowsMax: number;
};

/** What else is read with each row. */
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

/** The rows that the caller may read, nearest first: from the end, where the end was asked for. */
export const listViewRows = (
  pool: Pool,
  source: ViewSource,
  caller: Caller,
  { asked, joined }: { readonly asked: AskedRows; readonly joined: Joins },
): Promise<readonly Row[]> => {
  const { order, isDescending, isBackward, after, before, rowsMax } = asked;
  const parameters = new Parameters();
  const columns = order.map(({ name }) => `t.${name}`).join(', ');
  const beyond = (place: readonly string[] | undefined, comparison: '<' | '>'): readonly string[] =>
    place === undefined
      ? []
      : [
          `(${columns}) ${comparison} (${order.map(({ type }, index) => `${parameters.add(place[index])}::${type}`).join(', ')})`,
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

/** Where a row is, as texts that say numbers and moments as exactly as the database has them. */
export const placeOf = (row: Row, { length }: readonly OrderColumn[]): readonly string[] =>
  Array.from({ length }, (_, index) => String(row[`place_${index}`]));

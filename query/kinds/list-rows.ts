import type { Pool } from '#shared/database/pool.ts';
import { type Caller, mayAlways } from '#shared/policy.ts';
import { limitSql, orderSql, type Stretch, withinSql } from '../lists/walk.ts';
import { readableParts, rowsWith, stateMemberOf } from '../rows/rights.ts';
import type { Filter, Sort, Source } from '../rows/source.ts';
import { Parameters, runShared, runWithCustomPlan } from '../rows/statement.ts';
import type { Selection } from './selection.ts';

/** The values asked for, by the names of filters. */
export type RowFilter = Readonly<Record<string, string | number | boolean>>;

/** The rows of a list that are asked for. */
export type AskedRows = {
  readonly filter: RowFilter;
  /** Only users with this text in their names. */
  readonly named?: string | undefined;
  readonly sort: Sort;
  readonly stretch: Stretch;
  readonly rowsMax: number;
};

export type Listing = {
  readonly pool: Pool;
  readonly source: Source;
  readonly selection: Selection;
  readonly caller: Caller;
};
type Under = { readonly column: string; readonly id: number };

/** The rows of a list, nearest first. */
export const listRows = async <Row extends object>(
  { pool, source, selection, caller }: Listing,
  { under, ...asked }: AskedRows & { readonly under?: Under | undefined },
): Promise<readonly Row[]> => {
  const parameters = new Parameters();
  const parts = partsOf({ source, selection, caller, parameters }, asked, { under });
  if (parts.length === 0) return [];
  const run = isDecisive(source, asked) ? runWithCustomPlan : runShared;
  return run<Row>(pool, pageSql(parts, { selection, parameters }, asked), parameters.values);
};

/**
 * For a search or an element filter, the best plan depends on frequency: rare values are looked up, frequent
 * ones met while scanning the order.
 */
export const isDecisive = (source: Source, { named, filter }: Pick<AskedRows, 'named' | 'filter'>): boolean =>
  named !== undefined || filtersIn(source, filter).some(({ by }) => by === 'element' || by === 'words');

export type Reading = Omit<Listing, 'pool'> & { readonly parameters: Parameters };
type Narrowed = {
  readonly under?: Under | undefined;
  readonly belongs?: string | undefined;
  readonly isSearch?: boolean;
};

/**
 * The text after `select …` of each readable part of a list. Only the owner is joined by an inner join, so that
 * aggregates of a parked owner are omitted.
 */
export const partsOf = (
  { source, selection, caller, parameters }: Reading,
  { filter, named, sort, stretch }: Pick<AskedRows, 'filter'> & Partial<AskedRows>,
  { under, belongs, isSearch = false }: Narrowed,
): readonly string[] => {
  const filters = filtersIn(source, filter);
  const state = stateMemberOf(source);
  const isOfState = ({ column }: Filter): boolean => column === state?.column;
  const wanted = [
    ...filters.filter(isOfState).map(({ value }) => value),
    ...(sort?.state === undefined ? [] : [sort.state]),
  ];
  const states =
    wanted.length === 0
      ? undefined
      : state?.def.values?.filter((each) => wanted.every((one) => one === each));
  const ids = filters.flatMap(({ by, column, value }) =>
    by === 'id' ? [[column, Number(value)] as const] : [],
  );
  if (under && ids.some(([column, id]) => column === under.column && id !== under.id)) return [];
  const equal = { ...Object.fromEntries(ids), ...(under && { [under.column]: under.id }) };
  // Only the order of creation has an index that begins with the state. A count by words or by an element looks
  // all of them up.
  const isAcrossStates = isSearch || sort?.column !== 'created_at';
  const parts = readableParts(caller, source, { states, equal, isAcrossStates });
  if (parts.length === 0) return [];
  const conditions = [
    ...(belongs === undefined ? [] : [`t.${belongs} = p.id`]),
    ...(sort === undefined || stretch === undefined ? [] : withinSql(sort.column, stretch, parameters)),
    ...(sort?.isPartial ? [`t.${sort.column} is not null`] : []),
    // A value that the caller may not read counts as absent.
    ...[...new Set([sort?.guard, ...filters.map(({ guard }) => guard)])].flatMap((guard) =>
      guard === undefined ? [] : rowsWith(caller, source, guard, parameters),
    ),
    ...(named === undefined ? [] : [namedLike(source, caller, named, parameters)]),
    ...filters.flatMap((each) =>
      each.by === 'id' || isOfState(each)
        ? []
        : [CONDITIONS[each.by](`t.${each.column}`, parameters.add(each.value))],
    ),
  ];
  return parts.map((part) => {
    const all = [...part(parameters), ...conditions];
    return `from ${source.table} t${selection.joins}${all.length === 0 ? '' : ` where ${all.join(' and ')}`}`;
  });
};

/** The filters asked for, with their values. */
export const filtersIn = (
  { filters }: Source,
  asked: Readonly<Record<string, unknown>>,
): readonly (Filter & { readonly value: string | number | boolean })[] =>
  filters.flatMap((filter) => {
    const value = (asked[filter.name] ?? undefined) as string | number | boolean | undefined;
    return value === undefined ? [] : [{ ...filter, value }];
  });

const CONDITIONS: Readonly<Record<Exclude<Filter['by'], 'id'>, (column: string, given: string) => string>> = {
  value: (column, given) => `${column} = ${given}`,
  element: (column, given) => `${column} @> array[${given}]`,
  words: (column, given) => `${column} @@ websearch_to_tsquery('simple', ${given})`,
};

/** E-mail addresses are searched only for callers who may read all of them. */
const namedLike = ({ guards }: Source, caller: Caller, text: string, parameters: Parameters): string => {
  const pattern = parameters.add(`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`);
  const guard = guards.get('email');
  const columns = guard === undefined || mayAlways(caller, guard) ? ['name', 'email'] : ['name'];
  return `(${columns.map((column) => `t.${column} ilike ${pattern}`).join(' or ')})`;
};

type Written = Pick<Reading, 'selection' | 'parameters'>;

/** Merges one page of each readable part. */
export const pageSql = (
  parts: readonly string[],
  { selection, parameters }: Written,
  { sort, stretch, rowsMax }: Pick<AskedRows, 'sort' | 'stretch' | 'rowsMax'>,
): string => {
  const order = `${orderSql(sort.column, stretch)} limit ${limitSql({ stretch, rowsMax }, parameters)}`;
  const selects = parts.map((part) => `select ${selection.columns} ${part} ${order}`);
  if (selects.length === 1) return selects.join('');
  return `select * from (${selects.map((select) => `(${select})`).join(' union all ')}) as page ${order}`;
};

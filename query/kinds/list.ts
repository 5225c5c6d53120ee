import type { ListAnswer } from '#edge/rest/reads/answer.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import { isUser } from '#kernel/base/users.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type Caller, mayAlways } from '#shared/policy.ts';
import { readList } from '../lists/list.ts';
import { clausesOf, type Order, type Walk } from '../lists/walk.ts';
import { demandSearchable, readableParts, rowsWith, stateMemberOf } from '../rows/rights.ts';
import type { Sort, Source } from '../rows/source.ts';
import type { Row } from '../rows/sources.ts';
import { Parameters, runShared, runWithCustomPlan } from '../rows/statement.ts';
import { representationOf } from './representation.ts';
import type { ItemRow } from './rows.ts';
import { selectionOfList } from './selection.ts';

/** The parameters of a list, as parsed by the schema of its operation. */
export type Asked = {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly sort?: string | undefined;
  readonly at?: string | undefined;
  readonly [filter: string]: string | number | boolean | undefined;
};

type Listed = {
  readonly path: string;
  readonly asked: Asked;
  /**
   * The parent or owner of the list: the column of the reference and the id, and of a parent the columns that
   * its children’s rights need.
   */
  readonly under?: { readonly column: string; readonly id: number; readonly row?: Row } | undefined;
  readonly create?: Link | undefined;
};

/** The order that REST calls by this name. */
const orderOf = (
  { sorts, isNewestFirst }: Source,
  given: string | undefined,
): Order & Pick<Sort, 'state' | 'isPartial' | 'guard'> => {
  const name = given ?? `${isNewestFirst ? '-' : ''}createdAt`;
  const sort = sorts.find((each) => each.name === name.replace('-', ''));
  if (!sort) throw new RangeError(`There is no order ${name}`);
  return {
    column: sort.column,
    descending: name.startsWith('-'),
    state: sort.state,
    isPartial: sort.isPartial,
    guard: sort.guard,
  };
};

/** The REST parameter of the text search. */
const WORDS = 'q';

const askedFilters = ({ filters }: Source, asked: Asked) =>
  filters.flatMap((filter) => {
    const value = asked[filter.by === 'words' ? WORDS : filter.name];
    return value === undefined ? [] : [{ ...filter, value }];
  });

/** A page of a list of one kind, at any path. */
export const readKindList = (
  { domain, pool, source }: { readonly domain: Domain; readonly pool: Pool; readonly source: Source },
  caller: Caller,
  { path, asked, under, create }: Listed,
): Promise<ListAnswer> => {
  const { represent } = representationOf(domain, source).to(caller);
  const { state, isPartial, guard, ...order } = orderOf(source, asked.sort);
  demandSearchable(caller, guard, 'sort');
  for (const filter of askedFilters(source, asked)) demandSearchable(caller, filter.guard, filter.name);
  const parent = under?.row;
  return readList<string, ItemRow & Readonly<Record<string, Date | null>>>({
    path,
    asked,
    order,
    read: (walk) =>
      listRows({ pool, source }, caller, { asked, under, state, isPartial, guard, walk }) as Promise<
        readonly never[]
      >,
    represent: parent ? (row) => represent({ ...row, ...parent }) : represent,
    create,
  });
};

/** E-mail addresses are searched only for callers who may read all of them. */
const namedLike = ({ guards }: Source, caller: Caller, text: string, parameters: Parameters): string => {
  const pattern = parameters.add(`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`);
  const guard = guards.get('email');
  const columns = guard === undefined || mayAlways(caller, guard) ? ['name', 'email'] : ['name'];
  return `(${columns.map((column) => `t.${column} ilike ${pattern}`).join(' or ')})`;
};

type Page = Pick<Listed, 'asked' | 'under'> & { readonly walk: Walk } & Pick<Sort, 'state'> &
  Partial<Pick<Sort, 'isPartial' | 'guard'>>;

const selectionOf = oncePer((source: Source) => selectionOfList(source));

/**
 * Merges one page of each readable part; aggregates of a parked owner are omitted. For a search or an element
 * filter, the best plan depends on frequency: rare values are looked up, frequent ones met while scanning the
 * order.
 */
export const listRows = async (
  { pool, source }: { readonly pool: Pool; readonly source: Source },
  caller: Caller,
  { asked, under, state, isPartial, guard, walk }: Page,
): Promise<readonly ItemRow[]> => {
  const filters = askedFilters(source, asked);
  const stateMember = stateMemberOf(source);
  const isOfState = (filter: { readonly column: string }): boolean => filter.column === stateMember?.column;
  const ofStates = filters.filter(isOfState).map(({ value }) => String(value));
  const wanted = [...ofStates, ...(state === undefined ? [] : [state])];
  const all = stateMember?.def.values;
  const states = wanted.length === 0 ? undefined : all?.filter((each) => wanted.every((one) => one === each));
  const ids = filters.flatMap(({ by, column, value }) =>
    by === 'id' ? [[column, Number(value)] as const] : [],
  );
  if (under && ids.some(([column, id]) => column === under.column && id !== under.id)) return [];
  const equal = { ...Object.fromEntries(ids), ...(under && { [under.column]: under.id }) };
  const parts = readableParts(caller, source, { states, equal });
  if (parts.length === 0) return [];
  const parameters = new Parameters();
  const { where, order } = clausesOf(walk, parameters);
  const conditions = [
    ...(where === undefined ? [] : [where]),
    ...(isPartial ? [`t.${walk.order.column} is not null`] : []),
    // A value that the caller may not read counts as absent.
    ...[...new Set([guard, ...filters.map((filter) => filter.guard)])].flatMap((right) =>
      right === undefined ? [] : rowsWith(caller, source, right, parameters),
    ),
    ...(isUser(source.kind) && asked.q !== undefined
      ? [namedLike(source, caller, String(asked.q), parameters)]
      : []),
    ...filters.flatMap((filter) => {
      const { by, column, value } = filter;
      if (by === 'id' || isOfState(filter)) return [];
      const given = parameters.add(value);
      if (by === 'element') return [`t.${column} @> array[${given}]`];
      return [
        by === 'words' ? `t.${column} @@ websearch_to_tsquery('simple', ${given})` : `t.${column} = ${given}`,
      ];
    }),
  ];
  const selection = selectionOf(source);
  const selects = parts.map((part) => {
    const all = [...part(parameters), ...conditions];
    const fits = all.length === 0 ? '' : `where ${all.join(' and ')} `;
    return `select ${selection.columns} from ${source.table} t${selection.joins} ${fits}${order}`;
  });
  // A kind without states is one part for all callers.
  const text = all
    ? `select * from (${selects.map((select) => `(${select})`).join(' union all ')}) as page ${order}`
    : selects.join('');
  const run =
    asked.q !== undefined || filters.some(({ by }) => by === 'element' || by === 'words')
      ? runWithCustomPlan
      : runShared;
  return run<ItemRow>(pool, text, parameters.values);
};

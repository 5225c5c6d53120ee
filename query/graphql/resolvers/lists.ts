import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { RowFilter } from '../../kinds/list-rows.ts';
import type { AskedItems } from '../../lists/item-rows.ts';
import type { RowPosition, Stretch } from '../../lists/walk.ts';
import { demandSearchable } from '../../rows/rights.ts';
import { UNANSWERABLE } from '../../rows/searches.ts';
import type { Filter, ItemSource, Sort, Source } from '../../rows/source.ts';
import { cursorOf, rowPositionOf } from '../planner/cursors.ts';
import { searchText, storableText, storableValue } from '../planner/values.ts';
import { orderName } from '../rules/names.ts';
import { type Bounds, boundsIn, connectionOf, isGiven, orRefuse, pageSize } from './connections.ts';
import type { Context } from './context.ts';
import { type Row, sourceOfType } from './rows.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** The rows that a field lists: their type, and the column and id of their parent. */
export type Listed = {
  readonly type: string;
  readonly parent: string | undefined;
  readonly parentId: number;
};

export const readPlainList = async (
  context: Context,
  listed: Listed,
  args: Arguments,
): Promise<readonly Row[]> => {
  const { type, parent, parentId } = listed;
  const rowsMax = pageSize(args.limit);
  const source = sourceOfType(context.domain, type);
  const filter = await filterOf(context, source, args.filter);
  const order = orderOf(context, source, args.sort);
  const asked = { filter, sort: order.sort, stretch: stretchOf(order, NO_PLACES), rowsMax };
  return context.loaders.list({ type, parent, asked }, parentId);
};

const NO_PLACES = { after: undefined, before: undefined, isBackward: false } as const;

const UNCOUNTED = {
  code: 'too_much_to_look_at',
  message: 'Counting this list at that point in time needs too many reads.',
} as const;

/** A connection of rows of a type. */
export const readConnection = async (context: Context, listed: Listed, args: Arguments) => {
  const { loaders, notes } = context;
  const { type, parent, parentId } = listed;
  const source = sourceOfType(context.domain, type);
  const order = orderOf(context, source, args.sort);
  const { sort } = order;
  const bounds = boundsIn(args, (cursor): RowPosition => rowPositionOf(type, sort, cursor));
  const filter = await filterOf(context, source, args.filter);
  return connectionOf<Row>(bounds, {
    read: ({ rowsMax, ...places }) => {
      const asked = { filter, sort, stretch: stretchOf(order, places), rowsMax };
      return loaders.list({ type, parent, asked }, parentId);
    },
    cursorAt: (row) => cursorOf(type, sort, { atMs: timeOf(row, sort), id: row.id }),
    async count(path) {
      const asked = { filter, sort, stretch: stretchOf(order, NO_PLACES), rowsMax: 0 };
      const count = await loaders.count({ type, parent, asked }, parentId);
      if (count === null) notes.add(path, UNCOUNTED);
      return count;
    },
  });
};

const timeOf = (row: Row, { column }: Sort): number => {
  const at = row[column];
  return at instanceof Date ? at.getTime() : 0;
};

type Order = { readonly sort: Sort; readonly descending: boolean };

const orderOf = ({ caller }: Context, { sorts, isNewestFirst }: Source, given: unknown): Order => {
  const orders = sorts.flatMap((sort) =>
    [isNewestFirst, !isNewestFirst].map((descending) => ({ sort, descending })),
  );
  const order =
    typeof given === 'string'
      ? orders.find(({ sort, descending }) => orderName(sort, descending) === given)
      : orders[0];
  if (!order) throw new RangeError(`There is no order ${String(given)}`);
  demandSearchable(caller, order.sort.guard, 'sort');
  return order;
};

const stretchOf = (
  { descending }: Order,
  { after, before, isBackward }: Omit<Bounds<RowPosition>, 'size'>,
): Stretch => ({
  isDownward: descending !== isBackward,
  beyond: isBackward ? before : after,
  before: isBackward ? after : before,
});

/** An invalid id matches no row. */
export const filterOf = async (
  { searches, caller }: Context,
  { filters }: Source,
  given: unknown,
): Promise<RowFilter> => {
  const values = (given ?? {}) as Readonly<Record<string, unknown>>;
  const asked = filters.filter(({ name }) => isGiven(values[name]));
  for (const { name, guard } of asked) demandSearchable(caller, guard, name);
  const read = (): RowFilter =>
    Object.fromEntries(asked.map(({ name, by }) => [name, READ[by](values[name])]));
  const filter = orRefuse(read, 'invalid_parameter');
  for (const { name, by } of asked)
    if (by === 'words' && !(await searches.isAnswerable(String(filter[name]))))
      throw new HttpProblem('invalid_parameter', { detail: UNANSWERABLE });
  return filter;
};

const READ: Readonly<Record<Filter['by'], (value: unknown) => string | number | boolean>> = {
  value: storableValue,
  element: storableText,
  id: (value) => pathId(String(value)) ?? -1,
  words: searchText,
};

/** The values by which items are filtered. */
export const valuesIn = ({ filters }: Pick<ItemSource, 'filters'>, given: unknown): AskedItems['only'] => {
  const values = (given ?? {}) as Readonly<Record<string, unknown>>;
  const asked = filters.filter(({ name }) => isGiven(values[name]));
  return orRefuse(
    () => asked.map(({ name, column, by }) => ({ column, by, value: READ[by](values[name]) })),
    'invalid_parameter',
  );
};

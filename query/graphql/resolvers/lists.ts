import { GraphQLError } from 'graphql';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { AskedItems } from '../../lists/item-rows.ts';
import { demandSearchable } from '../../rows/rights.ts';
import { UNANSWERABLE } from '../../rows/searches.ts';
import type { Filter, ItemSource } from '../../rows/source.ts';
import { cursorOf, rowPositionOf } from '../planner/cursors.ts';
import { OutOfPlan } from '../planner/out-of-plan.ts';
import { searchText, storableText, storableValue } from '../planner/values.ts';
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, refusedSize } from '../rules/list-limits.ts';
import { orderName } from '../rules/names.ts';
import type { Context } from './context.ts';
import type { Path } from './notes.ts';
import { type Asked, type Listing, listingsOf, type Row, type RowFilter, type RowPosition } from './rows.ts';

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
  const listing = listingsOf(context.domain).of(type);
  const filter = await filterOf(context, listing, args.filter);
  return context.loaders.list(
    { type, parent, asked: { ...orderOf(context, listing, args.sort), filter, ...NO_PLACES, rowsMax } },
    parentId,
  );
};

/** The cost calculation has refused bad sizes already; this is for executions without one. */
export const pageSize = (value: unknown): number => {
  const size = typeof value === 'number' ? value : LIST_LIMIT_DEFAULT;
  if (size >= 0 && size <= LIST_LIMIT_MAX) return size;
  throw new GraphQLError(refusedSize(size), {
    extensions: { code: 'limit_out_of_range', max: LIST_LIMIT_MAX },
  });
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
  const listing = listingsOf(context.domain).of(type);
  const order = orderOf(context, listing, args.sort);
  const bounds = boundsIn(args, (cursor): RowPosition => rowPositionOf(type, orderFor(order), cursor));
  const filter = await filterOf(context, listing, args.filter);
  return connectionOf<Row>(bounds, {
    read: (asked) => loaders.list({ type, parent, asked: { ...order, filter, ...asked } }, parentId),
    cursorAt: (row) => cursorOf(type, orderFor(order), { atMs: timeOf(row, order), id: row.id }),
    async count(path) {
      const asked = { ...order, filter, ...NO_PLACES, rowsMax: 0 };
      const count = await loaders.count({ type, parent, asked }, parentId);
      if (count === null) notes.add(path, UNCOUNTED);
      return count;
    },
  });
};

/** The exclusive bounds of a connection, and the maximal number of rows. */
type Bounds<At> = {
  readonly after: At | undefined;
  readonly before: At | undefined;
  /** True reads from the end. */
  readonly isBackward: boolean;
  readonly size: number;
};

export const boundsIn = <At>(args: Arguments, read: (cursor: unknown) => At): Bounds<At> => {
  if (isGiven(args.first) && isGiven(args.last))
    throw new HttpProblem('invalid_parameter', { detail: 'A connection takes first or last, not both.' });
  const size = pageSize(args.first ?? args.last);
  const cursor = (side: 'after' | 'before') =>
    isGiven(args[side]) ? orRefuse(() => read(args[side]), 'unknown_cursor') : undefined;
  return { after: cursor('after'), before: cursor('before'), isBackward: isGiven(args.last), size };
};

type Paged<Item, At> = {
  /** Nearest first, with one more than the page has if others follow. */
  read(asked: Omit<Bounds<At>, 'size'> & { readonly rowsMax: number }): Promise<readonly Item[]>;
  cursorAt(item: Item): string;
  count(path: Path): Promise<number | null>;
};

/** A connection (GraphQL Cursor Connections Specification); each member is read only if it is asked for. */
export const connectionOf = <Item, At = RowPosition>(
  { size, ...places }: Bounds<At>,
  { read, cursorAt, count }: Paged<Item, At>,
) => {
  const { after, before, isBackward } = places;
  const page = async () => {
    const found = await read({ ...places, rowsMax: size + 1 });
    const nearest = found.slice(0, size);
    return { rows: isBackward ? nearest.toReversed() : nearest, hasMore: found.length > size };
  };
  const cursorOrNull = (row: Item | undefined): string | null => (row === undefined ? null : cursorAt(row));
  return {
    nodes: async () => (await page()).rows,
    edges: async () => (await page()).rows.map((node) => ({ cursor: cursorAt(node), node })),
    pageInfo: async () => {
      const { rows, hasMore } = await page();
      return {
        // On the side that the client came from, there was a row when the cursor was made.
        hasNextPage: before !== undefined || (!isBackward && hasMore),
        hasPreviousPage: after !== undefined || (isBackward && hasMore),
        startCursor: cursorOrNull(rows[0]),
        endCursor: cursorOrNull(rows.at(-1)),
      };
    },
    totalCount: count,
  };
};

const timeOf = (row: Row, { column }: Order): number => {
  const at = row[column];
  return at instanceof Date ? at.getTime() : 0;
};

type Order = Pick<Asked, 'column' | 'descending'>;

const orderFor = ({ column, descending }: Order): Order => ({ column, descending });

const orderOf = ({ caller }: Context, { sorts, isNewestFirst }: Listing, given: unknown): Order => {
  const orders = sorts.flatMap((sort) =>
    [isNewestFirst, !isNewestFirst].map((descending) => ({ ...sort, descending })),
  );
  const order =
    typeof given === 'string' ? orders.find((each) => orderName(each, each.descending) === given) : orders[0];
  if (!order) throw new RangeError(`There is no order ${String(given)}`);
  demandSearchable(caller, order.guard, 'sort');
  return orderFor(order);
};

/** An invalid id matches no row. */
const filterOf = async (
  { searches, caller }: Context,
  { filters }: Listing,
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

const isGiven = (value: unknown): boolean => (value ?? null) !== null;

/** The planner leaves refusals to the resolvers. */
const orRefuse = <Value>(read: () => Value, code: 'unknown_cursor' | 'invalid_parameter'): Value => {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof OutOfPlan)) throw cause;
    throw new HttpProblem(code, { detail: `Refused: ${cause.message}.`, cause });
  }
};

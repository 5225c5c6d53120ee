import { GraphQLError } from 'graphql';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { pathId } from '#shared/rest/path-id.ts';
import { UNANSWERABLE } from '../../searches.ts';
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, refusedSize } from '../list-limits.ts';
import { cursorOf, placeOf } from '../planner/cursors.ts';
import { OutOfPlan } from '../planner/out-of-plan.ts';
import { searchText, storableText } from '../planner/values.ts';
import type { Context } from './context.ts';
import type { Asked, ListOf, ParentColumn, Place, Row, RowFilter, TypeName } from './rows.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** Of whom a field lists: rows of a type, by the column that names the parent. */
export type Listed = { readonly type: TypeName; readonly parent: ParentColumn; readonly parentId: number };

export const readPlainList = async (context: Context, listed: Listed, args: Arguments): Promise<readonly Row[]> => {
  const { type, parent, parentId } = listed;
  const rowsMax = pageSize(args.limit);
  const filter = await filterOf(context, args.filter);
  return context.loaders.list({ type, parent, asked: { ...orderOf(type, args.sort), filter, ...NO_PLACES, rowsMax } }, parentId);
};

/** What a list costs was counted before, so that this is only for those who do not count. */
export const pageSize = (value: unknown): number => {
  const size = typeof value === 'number' ? value : LIST_LIMIT_DEFAULT;
  if (size >= 0 && size <= LIST_LIMIT_MAX) return size;
  throw new GraphQLError(refusedSize(size), {
    extensions: { code: 'limit_out_of_range', max: LIST_LIMIT_MAX },
  });
};

const NO_PLACES = { after: undefined, before: undefined, isBackward: false } as const;

/** A connection; its members are read when they are asked for. */
export const readConnection = async (context: Context, listed: Listed, args: Arguments) => {
  const { loaders } = context;
  const { type, parent, parentId } = listed;
  const has = (name: string): boolean => (args[name] ?? null) !== null;
  if (has('first') && has('last')) throw new HttpProblem('invalid_parameter', { detail: 'A connection takes first or last, not both.' });
  const size = pageSize(args.first ?? args.last);
  const order = orderOf(type, args.sort);
  const place = (side: 'after' | 'before'): Place | undefined =>
    has(side) ? orRefuse(() => placeOf(type, orderFor(order), args[side]), 'unknown_cursor') : undefined;
  const isBackward = has('last');
  const places = { after: place('after'), before: place('before'), isBackward };
  const filter = await filterOf(context, args.filter);
  const of: ListOf<TypeName> = { type, parent, asked: { ...order, filter, ...places, rowsMax: size + 1 } };
  const page = async () => {
    const read = await loaders.list(of, parentId);
    const nearest = read.slice(0, size);
    return { rows: isBackward ? nearest.toReversed() : nearest, hasMore: read.length > size };
  };
  const cursorAt = (row: Row | undefined): string | null =>
    row ? cursorOf(type, orderFor(order), { atMs: timeOf(row, order), id: row.id }) : null;
  return {
    nodes: async () => (await page()).rows,
    edges: async () => (await page()).rows.map((node) => ({ cursor: cursorAt(node), node })),
    pageInfo: async () => {
      const { rows, hasMore } = await page();
      return {
        // On the side that the page was entered from, there was something when its cursor was made.
        hasNextPage: has('before') || (!isBackward && hasMore),
        hasPreviousPage: has('after') || (isBackward && hasMore),
        startCursor: cursorAt(rows[0]),
        endCursor: cursorAt(rows.at(-1)),
      };
    },
    totalCount: () => loaders.count({ type, parent, asked: { ...of.asked, ...NO_PLACES, rowsMax: 0 } }, parentId),
  };
};

const timeOf = (row: Row, { column }: Order): number => {
  const at = column === 'published_at' && row.type === 'Post' ? row.published_at : row.created_at;
  return at?.getTime() ?? 0;
};

type Order = Pick<Asked, 'column' | 'descending'>;

const orderFor = ({ column, descending }: Order): Order => ({ column, descending });

const orderOf = (type: TypeName, sort: unknown): Order => {
  const name = typeof sort === 'string' ? sort : type === 'Comment' ? 'CREATED_AT_ASC' : 'CREATED_AT_DESC';
  return { column: name.startsWith('PUBLISHED') ? 'published_at' : 'created_at', descending: name.endsWith('DESC') };
};

/** What is no id is nobody's. */
const filterOf = async ({ searches }: Context, given: unknown): Promise<RowFilter> => {
  const { status, tag, author, search, owner, enabled } = (given ?? {}) as Readonly<Record<string, unknown>>;
  const filter: RowFilter = orRefuse(
    () => ({
      ...(isGiven(status) && { status: storableText(status) }),
      ...(isGiven(tag) && { tag: storableText(tag) }),
      ...(isGiven(author) && { author: pathId(String(author)) ?? -1 }),
      ...(isGiven(search) && { search: searchText(search) }),
      ...(isGiven(owner) && { owner: pathId(String(owner)) ?? -1 }),
      ...(typeof enabled === 'boolean' && { enabled }),
    }),
    'invalid_parameter',
  );
  if (typeof filter.search !== 'string' || (await searches.isAnswerable(filter.search))) return filter;
  throw new HttpProblem('invalid_parameter', { detail: UNANSWERABLE });
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

import { GraphQLError } from 'graphql';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { RowPosition } from '../../lists/walk.ts';
import { OutOfPlan } from '../planner/out-of-plan.ts';
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, refusedSize } from '../rules/list-limits.ts';
import type { Path } from './notes.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** The exclusive bounds of a connection, and the maximal number of rows. */
export type Bounds<At> = {
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
  /** The node of an item, if that is not the item itself. */
  nodeOf?(item: Item): unknown;
  count?(path: Path): Promise<number | null>;
};

/** A connection (GraphQL Cursor Connections Specification); each member is read only if it is asked for. */
export const connectionOf = <Item, At = RowPosition>(
  { size, ...places }: Bounds<At>,
  { read, cursorAt, nodeOf = (item) => item, count }: Paged<Item, At>,
) => {
  const { after, before, isBackward } = places;
  const readPage = async () => {
    const found = await read({ ...places, rowsMax: size + 1 });
    const nearest = found.slice(0, size);
    return { rows: isBackward ? nearest.toReversed() : nearest, hasMore: found.length > size };
  };
  let reading: ReturnType<typeof readPage> | undefined;
  const page = () => {
    reading ??= readPage();
    return reading;
  };
  const cursorOrNull = (row: Item | undefined): string | null => (row === undefined ? null : cursorAt(row));
  return {
    nodes: async () => (await page()).rows.map(nodeOf),
    edges: async () => (await page()).rows.map((item) => ({ cursor: cursorAt(item), node: nodeOf(item) })),
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

/** The cost calculation has refused bad sizes already; this is for executions without one. */
export const pageSize = (value: unknown): number => {
  const size = typeof value === 'number' ? value : LIST_LIMIT_DEFAULT;
  if (size >= 0 && size <= LIST_LIMIT_MAX) return size;
  throw new GraphQLError(refusedSize(size), {
    extensions: { code: 'limit_out_of_range', max: LIST_LIMIT_MAX },
  });
};

export const isGiven = (value: unknown): boolean => (value ?? null) !== null;

/** The planner leaves refusals to the resolvers. */
export const orRefuse = <Value>(read: () => Value, code: 'unknown_cursor' | 'invalid_parameter'): Value => {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof OutOfPlan)) throw cause;
    throw new HttpProblem(code, { detail: `Refused: ${cause.message}.`, cause });
  }
};
